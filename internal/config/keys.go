package config

import (
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse"
)

var modes = []gatehouse.Mode{gatehouse.Off, gatehouse.Observe, gatehouse.Nudge, gatehouse.Enforce}

// fields are all keys of the file, in the order in which they are printed.
func (c *Config) fields() []field {
	return []field{
		text("listen", "Address to listen on, host:port.", &c.Listen, wrongAddress),
		text("store", "Where everything is kept: sqlite:PATH.", &c.Store, wrongStore),
		c.upstreams(),
		c.protection(),
		section("alignment", "What the agent may do, and how it reasons.",
			choice("autonomy_mode", "Mode of the tool-call gate.", &c.Alignment.AutonomyMode, modes),
			choice("integrity_mode", "Mode of the check of reasoning.", &c.Alignment.IntegrityMode, modes),
		),
		c.tools(),
		choice("on_block", "What a stopped request is answered with: an assistant turn, or an error.", &c.OnBlock, []string{"replace", "error"}),
		c.onError(),
		choice("uninspected", "What happens to parts and endpoints that nothing can read. forward lets them through unseen.", &c.Uninspected, []string{"forward", "refuse"}),
		choice("streaming", "How much of a stream is held back until it is decided.", &c.Streaming, []string{"auto", "buffer", "window"}),
		c.Approvals.field(),
		c.limits(),
		section("audit", "The record of every exchange.",
			choice("durability", "Which records are safe on disk before the response ends.", &c.Audit.Durability, []string{"all", "decisions", "batched"}),
			later("retention", "How long records are kept.", "365d"),
			later("content", "What records keep of texts.", "hash"),
		),
		c.Judge.field(),
		section("integrity", "Reasoning.", later("request_reasoning", "Ask providers for reasoning.", "false")),
		section("auth", "Who may call.",
			choice("mode", "auto: on loopback, and as long as no API key was made, any credential is let through and names its agent. keys: an API key is needed everywhere.", &c.Auth.Mode, []string{"auto", "keys"}),
			c.adminToken(),
		),
		section("tls", "HTTPS. Both files or neither; they are read again when they change.",
			text("cert", "File with the certificate chain, PEM.", &c.TLS.Cert, anything),
			text("key", "File with the private key, PEM.", &c.TLS.Key, anything),
		),
		section("cors", "Browsers.", texts("origins", "Origins whose pages may call the gateway.", &c.CORS.Origins, wrongOrigin)),
		later("trusted_sources", "Addresses whose text is not scanned.", "{ip_ranges: []}"),
		c.Notify.field(),
		section("telemetry", "Metrics and traces.",
			text("otlp", "Base URL of a collector that takes spans by OTLP over HTTP, such as http://localhost:4318; empty: no spans.", &c.Telemetry.OTLP, wrongCollector),
			boolean("prometheus", "Whether GET /metrics answers.", &c.Telemetry.Prometheus),
			boolean("content", "Whether spans hold the texts as they left, without secrets. Everybody who reads traces then reads conversations.", &c.Telemetry.Content),
		),
		c.agents(),
	}
}

func (c *Config) agents() field {
	known := []field{boolean("auto_create", "Whether an unknown credential makes an agent.", &c.Agents.AutoCreate)}
	f := section("agents", "Agents.", known...)
	f.read = func(d *decoder, n *yaml.Node, path string) {
		for _, e := range d.entries(n, path) {
			if e.key != known[0].name {
				d.fail(e.line, e.path, "settings of one agent are not available in this version")
				continue
			}
			known[0].read(d, e.node, e.path)
		}
	}
	return f
}

// adminTokenVariable is where the administrator's token comes from when the file does not say otherwise.
const adminTokenVariable = "${GATEHOUSE_ADMIN_TOKEN}"

// adminToken is shown masked, and not at all when there is none. Its default names a variable that need not be set.
func (c *Config) adminToken() field {
	f := text("admin_token", "The administrator's token, 20 bytes or more. Without one, a token is made at the first start and printed once.", &c.Auth.AdminToken, wrongToken)
	read := f.read
	f.read = func(d *decoder, n *yaml.Node, path string) {
		_, set := os.LookupEnv("GATEHOUSE_ADMIN_TOKEN")
		if v := resolve(n); v.Tag == "!!null" || v.Value == adminTokenVariable && !set {
			return
		}
		read(d, n, path)
	}
	f.show = func() *yaml.Node {
		if c.Auth.AdminToken == "" {
			return nil
		}
		return scalarNode(mask)
	}
	return f
}

func (c *Config) protection() field {
	p := &c.Protection
	return section("protection", "What comes in and what leaves.",
		choice("mode", "Mode of the front and back checkpoints.", &p.Mode, modes),
		section("thresholds", "Injection scores from which on something happens; each at least the one before.",
			score("warn", "Text is wrapped as untrusted.", &p.Thresholds.Warn),
			score("quarantine", "Text is replaced by a notice.", &p.Thresholds.Quarantine),
			score("block", "The model is not called.", &p.Thresholds.Block),
		),
		section("screen", "What is scanned at all. What is switched off here reaches the model, or leaves, unseen.",
			boolean("incoming", "User and system text.", &p.Screen.Incoming),
			boolean("outgoing", "The model's text.", &p.Screen.Outgoing),
			boolean("tool_calls", "Arguments of tool calls.", &p.Screen.ToolCalls),
			boolean("tool_responses", "Results of tools.", &p.Screen.ToolResponses),
		),
		p.pii(),
		choice("secrets", "What happens to secrets in tool results and output.", &p.Secrets, []string{"redact", "report", "off"}),
		choice("model", "The transformer that reads what faster detectors are not sure of. auto: where the CPU is fast enough.", &p.Model, []string{"auto", "off"}),
		later("canary", "Canary tokens.", "report"),
		later("quarantine_key", "Key that quarantined content is kept under.", `""`),
	)
}

func (c *Config) limits() field {
	l := &c.Limits
	return section("limits", "What one exchange may cost.",
		size("body", "Bytes of a request body.", &l.Body, 1),
		count("depth", "Nested arrays and objects in a body.", &l.Depth, 1, 10_000),
		duration("scan", "Time for all detectors together.", &l.Scan),
		duration("header_timeout", "Time for a client to send its request headers.", &l.HeaderTimeout),
		duration("upstream_idle", "Silence of an upstream after which it counts as gone, and the time for a client to take what it is sent.", &l.UpstreamIdle),
		size("stream_buffer", "Bytes of a response that are held back.", &l.StreamBuffer, 1),
		size("cache", "Bytes that hold what detectors have found in texts, what was decided on them, and transcripts; 0 is none.", &l.Cache, 0),
		count("rate", "Requests a minute for each agent; 0 is no limit.", &l.Rate, 0, 1_000_000),
	)
}
