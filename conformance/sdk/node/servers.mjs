// Starts the real binary in front of fake providers: nothing here knows how the gateway works inside.

import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { ADMIN } from './surface.mjs';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const START_TIMEOUT = 30_000; // milliseconds until a freshly started server must answer
const LOG = 'gatehouse.log';
const STOP_TIMEOUT = 10_000; // milliseconds until a server that was asked to stop must have

/** The provider keys that the gateway holds, by the name of the upstream. */
export const HELD = { held: 'sk-held-by-the-gateway', 'held-claude': 'sk-ant-held-by-the-gateway' };

/**
 * Builds and starts everything: one gateway, with every default but the upstreams, the port and the place of the database;
 * the providers, and a second pair of them behind the upstream `second`. GATEHOUSE names a binary to test in place of the
 * one of this checkout, and GATEHOUSE_STREAMING another way to stream.
 *
 * @param more - sections of the gateway's configuration that a test needs besides
 */
export async function start(more = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-node-'));
  const processes = [];
  const stop = async () => {
    await Promise.all(processes.map(end));
    rmSync(folder, { recursive: true, force: true });
  };
  process.on('exit', () => processes.forEach((p) => p.kill('SIGKILL')));
  try {
    build(folder, './internal/fake/cmd/fakeprovider');
    const binary = process.env.GATEHOUSE ?? build(folder, './cmd/gatehouse');
    const provider = await startProvider(folder, processes);
    const second = await startProvider(folder, processes);
    const upstreams = {
      openai: { url: provider.openai },
      anthropic: { url: provider.anthropic },
      gemini: { url: provider.gemini },
      second: { format: 'openai', url: second.openai },
      held: { format: 'openai', url: provider.openai, key: HELD.held },
      'held-claude': { format: 'anthropic', url: provider.anthropic, key: HELD['held-claude'] },
    };
    const gateway = await startGateway(binary, folder, processes, { upstreams, ...more });
    return { gateway, provider, second, log: () => readFileSync(join(folder, LOG), 'utf8'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The fake providers, and what reached them. */
class Provider {
  #seen = {};

  constructor({ openai, anthropic, gemini }) {
    Object.assign(this, { openai, anthropic, gemini });
  }

  /** Every request that reached them since the last clear. */
  async requests() {
    const lists = await Promise.all(this.#urls().map(async (url) => (await recorded(url)).slice(this.#seen[url] ?? 0)));
    return lists.flat();
  }

  async clear() {
    await Promise.all(this.#urls().map(async (url) => (this.#seen[url] = (await recorded(url)).length)));
  }

  #urls() {
    return [this.openai, this.anthropic, this.gemini];
  }
}

async function recorded(url) {
  return (await fetch(`${url}/_requests`)).json();
}

function build(folder, pkg) {
  execFileSync('go', ['build', '-o', folder, pkg], { cwd: ROOT, stdio: 'inherit' });
  return join(folder, pkg.split('/').at(-1));
}

async function startProvider(folder, processes) {
  const child = spawn(join(folder, 'fakeprovider'), { stdio: ['ignore', 'pipe', 'inherit'] });
  processes.push(child);
  const [line] = await once(createInterface(child.stdout), 'line', { signal: AbortSignal.timeout(START_TIMEOUT) });
  return new Provider(JSON.parse(line));
}

async function startGateway(binary, folder, processes, more) {
  const address = `127.0.0.1:${await freePort()}`;
  const file = join(folder, 'gatehouse.yaml');
  const streaming = process.env.GATEHOUSE_STREAMING ?? 'auto';
  const config = { streaming, listen: address, store: `sqlite:${join(folder, 'gatehouse.db')}`, auth: { admin_token: ADMIN }, ...more };
  writeFileSync(file, JSON.stringify(config)); // JSON is YAML
  const out = openSync(join(folder, LOG), 'w');
  const child = spawn(binary, ['serve', '--config', file], { cwd: folder, stdio: ['ignore', out, out] });
  processes.push(child);
  for (const deadline = Date.now() + START_TIMEOUT; Date.now() < deadline && child.exitCode === null; await sleep(50)) {
    const alive = await fetch(`http://${address}/health/ready`).then(() => true, () => false);
    if (alive) {
      return `http://${address}`;
    }
  }
  throw new Error(`the gateway does not answer:\n${readFileSync(join(folder, LOG), 'utf8')}`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await exited;
  clearTimeout(timer);
}
