// Unicode's White_Space. String.prototype.trim differs in U+0085 and U+FEFF, and clients in all languages must agree.
const SPACE =
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** The text without white space at its ends. It takes linear time, which an expression anchored at the end does not. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && SPACE.includes(text.charAt(start))) {
    start++;
  }
  while (end > start && SPACE.includes(text.charAt(end - 1))) {
    end--;
  }
  return text.slice(start, end);
}
