package config

import (
	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse"
)

// onError is one word for all checkpoints, or a word for some of them.
func (c *Config) onError() field {
	words := []string{"closed", "open"}
	var each []field
	for _, at := range gatehouse.Checkpoints {
		each = append(each, value(string(at), "What happens when this checkpoint cannot decide.", object{"enum": words}, func(s string) error {
			word := c.OnError[at]
			err := chooseWord(s, &word, words, nil)
			c.OnError[at] = word
			return err
		}, func() string { return c.OnError[at] }))
	}
	f := section("on_error", "What happens when a checkpoint cannot decide: closed refuses, open lets the exchange through unchecked.", each...)
	asMap := f.read
	f.read = func(d *decoder, n *yaml.Node, path string) {
		if n = resolve(n); n.Kind != yaml.ScalarNode {
			asMap(d, n, path)
			return
		}
		word := c.OnError[gatehouse.Front]
		text, ok := d.scalar(n, path)
		if !ok {
			return
		}
		if err := chooseWord(text, &word, words, nil); err != nil {
			d.fail(n.Line, path, "%v", err)
			return
		}
		c.OnError = sameForAll(word)
	}
	f.schema = object{"anyOf": []object{{"enum": words}, fieldsSchema(each)}}
	return f
}
