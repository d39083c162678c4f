package responses

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// kindReference is an item that names another one, which the provider keeps, in place of what that says.
const kindReference = "item_reference"

// ownMessagePrefix begins the ids of messages that the gateway has written. The provider keeps none of them.
const ownMessagePrefix = "msg_gatehouse_"

// noticeOwn stands where the client names a message of the gateway's.
const noticeOwn = "[The gateway said here that something was withheld.]"

// mention takes note of an item that names another one. Of one that the gateway has written nothing reaches the provider, so there is nothing
// to inspect.
func (r *request) mention(one *item) {
	if one.kind != kindReference {
		return
	}
	if r.mentioned = one.id; strings.HasPrefix(one.id, ownMessagePrefix) {
		one.fields = nil
		r.own = append(r.own, one.value)
	}
}

// Mentions implements [wire.Mentioning]. The id of a message that the gateway has written says whose it is: a response's of the
// provider, or an exchange's whose answer the gateway has written.
func (r *request) Mentions() []string {
	if of, own := strings.CutPrefix(r.mentioned, ownMessagePrefix); own {
		return named("resp_"+of, of)
	}
	return named(r.mentioned)
}

// resolve writes messages for those of the gateway's that the client names: the provider does not know them.
func (r *request) resolve() (patches []rawjson.Patch) {
	for _, v := range r.own {
		patches = append(patches, rawjson.Set(v, string(encode(fields{"role": "assistant", "content": noticeOwn}))))
	}
	return patches
}
