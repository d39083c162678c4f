// What both SDKs have in common here: a client whose every answer is looked at.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';

import { settled, surface } from './surface.mjs';

const TIMEOUT = 20_000; // milliseconds for one exchange; the fakes answer at once

const unchecked = []; // response headers of the gateway that checkSurfaces has not seen

/** Checks the surface of every response since the last check. */
export function checkSurfaces() {
  unchecked.splice(0).forEach(surface);
}

/**
 * Makes a client of an SDK class for the gateway, with nothing changed but the base URL and, for the sake of the tests, the
 * retries and the timeout. `exchanges` lists every request that it sent and what the gateway said of it. The body is read
 * by the SDK alone.
 */
export function connect(SDK, baseURL, options = {}) {
  const exchanges = [];
  const watched = async (url, init) => {
    const response = await fetch(url, init);
    const { status, headers } = response;
    exchanges.push({ query: new URL(url).search, body: init.body, status, headers });
    unchecked.push(headers);
    return response;
  };
  const api = new SDK({ baseURL, apiKey: key(), maxRetries: 0, timeout: TIMEOUT, fetch: watched, ...options });
  return {
    api,
    exchanges,
    /** The surface of the newest response, with the verdicts that are final. */
    said() {
      assert.notEqual(exchanges.length, 0, 'no response arrived');
      return settled(exchanges.at(-1).headers, baseURL);
    },
  };
}

/** A provider key of its own for every client, and so an agent of its own. */
export function key() {
  return `sk-${randomBytes(16).toString('hex')}`;
}
