package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// upstreamName is what can stand as NAME in /u/NAME/.
var upstreamName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// upstreams merge by name: a name that is new needs a format and a URL.
func (c *Config) upstreams() field {
	return field{"upstreams", "Model servers by name.",
		func(d *decoder, n *yaml.Node, path string) {
			for _, e := range d.entries(n, path) {
				c.readUpstream(d, e)
			}
		},
		func() *yaml.Node {
			out := &yaml.Node{Kind: yaml.MappingNode}
			for _, name := range slices.Sorted(maps.Keys(c.Upstreams)) {
				u := c.Upstreams[name]
				out.Content = append(out.Content, scalarNode(name), showFields(u.fields()))
			}
			return out
		},
		object{"type": []string{"object", "null"}, "additionalProperties": fieldsSchema(new(Upstream).fields())},
	}
}

func (c *Config) readUpstream(d *decoder, e entry) {
	if !upstreamName.MatchString(e.key) {
		d.fail(e.line, e.path, "a name is letters, digits, dots, underscores and hyphens, 64 at most")
		return
	}
	u := c.Upstreams[e.key]
	before := len(d.problems)
	d.section(e.node, e.path, u.fields())
	if len(d.problems) == before && (u.Format == "" || u.URL == "") {
		d.fail(e.line, e.path, "needs a format and a url")
	}
	u.URL = strings.TrimRight(u.URL, "/")
	c.Upstreams[e.key] = u
}

func (u *Upstream) fields() []field {
	return []field{
		choice("format", "What the server speaks.", &u.Format, []string{"openai", "anthropic", "gemini"}),
		text("url", "Base URL.", &u.URL, wrongBaseURL),
		u.keyField(),
		u.authField(),
		texts("allow_uninspected", "Endpoints that generate and are forwarded although nothing can read them.", &u.AllowUninspected, anything),
	}
}

// keyField is shown masked, and not at all when there is none.
func (u *Upstream) keyField() field {
	f := text("key", "The provider's key, when the gateway holds it. Take it from the environment: ${OPENAI_API_KEY}.", &u.Key, wrongKey)
	f.show = func() *yaml.Node {
		if u.Key == "" {
			return nil
		}
		return scalarNode(mask)
	}
	return f
}

func (u *Upstream) authField() field {
	f := value("auth", "none lets calls without a credential through.", object{"enum": []string{"none"}}, func(s string) error {
		if s != "none" {
			return fmt.Errorf("must be none, or left out")
		}
		u.Auth = s
		return nil
	}, func() string { return u.Auth })
	shown := f.show
	f.show = func() *yaml.Node {
		if u.Auth == "" {
			return nil
		}
		return shown()
	}
	return f
}
