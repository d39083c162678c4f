package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// strict is the preset that redacts every class of personal data.
const strict = "strict"

// defaultPII redacts what is never needed in an answer and reports the rest.
func defaultPII() map[string]string {
	m := allPII("report")
	m["card"], m["ssn"] = "redact", "redact"
	return m
}

func allPII(word string) map[string]string {
	m := map[string]string{}
	for _, class := range detect.PII() {
		m[class] = word
	}
	return m
}

// pii is a map of classes; a class that is written wins over the preset, wherever the two stand.
func (p *Protection) pii() field {
	preset := ""
	known := []field{value("preset", "strict redacts every class that is not written.", object{"enum": []string{strict}}, func(s string) error {
		if s != strict {
			return fmt.Errorf("must be strict, or left out")
		}
		preset = s
		return nil
	}, func() string { return preset })}
	known[0].show = func() *yaml.Node { return nil } // the classes say it
	written := map[string]string{}
	for _, class := range detect.PII() {
		words := []string{"redact", "report", "off"}
		known = append(known, value(class, "What happens to this class.", object{"enum": words}, func(s string) error {
			if !slices.Contains(words, s) {
				return fmt.Errorf("must be %s", orList(words))
			}
			written[class] = s
			return nil
		}, func() string { return p.PII[class] }))
	}
	f := section("pii", "What happens to personal data in tool results and output, by class. off does not look for it.", known...)
	read := f.read
	f.read = func(d *decoder, n *yaml.Node, path string) {
		read(d, n, path)
		if preset == strict {
			p.PII = allPII("redact")
		}
		for class, word := range written {
			p.PII[class] = word
		}
	}
	return f
}
