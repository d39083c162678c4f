package policy

import (
	"slices"
	"strings"
)

// effect is what a call does to the world, as far as names tell.
type effect int

const (
	acts     effect = iota // it changes something, sends something, or nobody knows
	reads                  // it only looks
	executes               // it runs what its arguments say
)

// wordSet is a set of words.
type wordSet map[string]bool

func wordsOf(text string) wordSet {
	set := wordSet{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// The words of tool names. Of those that can be a noun, too, only the others around them tell: search_email only looks.
var (
	executing = wordsOf("run execute exec eval shell bash sh zsh powershell terminal command cmd python code script sql subprocess")
	acting    = wordsOf("send publish invite transfer pay delete remove write create update upload insert append edit modify set put patch add " +
		"submit approve grant revoke reply forward share transmit wire buy purchase book reserve cancel move rename copy save store " +
		"install deploy merge push commit fork trigger schedule subscribe register assign enable disable reset change replace drop " +
		"purge erase wipe kill stop start restart make donate withdraw deposit refund charge tweet dm notify broadcast accept sign")
	reading = wordsOf("get list read search find query fetch lookup look show view describe count check browse visit navigate crawl " +
		"scrape download retrieve inspect summarize summarise translate calculate compute parse validate preview compare ping whois")
	nouns    = wordsOf("code script command sql post email mail message order")
	carriers = wordsOf("http https url web website site page link browser tab") // open_url
	both     = wordsOf("and or then")
)

// effectOf reads the leaf of a tool's name. The first word that tells decides; get_and_delete is both, and acts. A name that
// tells nothing counts as one that acts: better one question too many.
func effectOf(tool string) effect {
	segments := leafSegments(tool)
	if len(segments) == 0 {
		return acts
	}
	leaf := segments[len(segments)-1]
	if len(leaf) == 1 && len(segments) > 1 { // files.delete, sql/query
		leaf = slices.Concat(segments[len(segments)-2], leaf)
	}
	joins := both.hold(leaf)
	for _, w := range leaf {
		switch {
		case nouns[w]:
		case executing[w]:
			return executes
		case acting[w]:
			return acts
		case reading[w] && !joins:
			return reads
		}
	}
	switch {
	case executing.hold(leaf):
		return executes
	case carriers.hold(leaf) && !nouns.hold(leaf) && !joins:
		return reads
	}
	return acts
}

// The words of names of arguments.
var (
	destinations = wordsOf("to cc bcc recipient recipients receiver receivers addressee email emails mail address addresses mailto phone number " +
		"account accounts iban bic wallet payee beneficiary destination dest target targets url urls uri link href endpoint webhook callback " +
		"host hostname domain server ip path paths file files filename filepath folder directory dir repo repository remote bucket channel " +
		"channels destinatario destinatarios destinataire destinataires empfaenger ontvanger mottagare modtager mottaker odbiorca prijemce cimzett destinatar alici penerima получатель кому адрес " +
		"konto cuenta compte conto rekening kontonummer szamla hesap correo correio courriel epost eposta 收件人 收款人 账户 账号 邮箱 宛先 口座 계좌 " +
		"user users username member members invitee invitees participant participants attendee attendees guest guests assignee contact")
	prose = wordsOf("body content contents text message messages html markdown description subject title summary note notes comment " +
		"contenu contenido conteudo contenuto inhalt inhoud innehall indhold innhold sisalto tresc obsah tartalom icerik isi noi dung содержание текст вміст περιεχόμενο محتوى תוכן 内容 正文 本文 내용 " +
		"texte texto testo tekst mensaje message mensagem messaggio nachricht bericht meddelande sujet asunto assunto oggetto betreff onderwerp comments caption query prompt question instructions reason memo data")
	payloads = wordsOf("body data payload json form content files")
)

// hold reports whether one of some words is in the set.
func (s wordSet) hold(some []string) bool {
	return slices.ContainsFunc(some, func(w string) bool { return s[w] })
}

// name reports whether one of the words of an argument's name is in the set: recipientEmail, file_path.
func (s wordSet) name(key string) bool { return s.hold(words(key)) }
