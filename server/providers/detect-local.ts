/** Finds model servers on their default ports on this machine, with harmless GET requests to loopback. */

import { isLoopback } from '../contract/address.ts';
import type { ProviderConfig } from '../contract/config.ts';
import type { DetectedServer, Preset } from '../contract/preset.ts';
import { type CollectedResponse, readResponse } from '../transport/fetch.ts';
import type { Transport } from '../transport/transport.ts';
import { TransportError } from '../transport/transport-error.ts';
import { parseModelList } from './list-models.ts';
import { presets } from './presets.ts';
import type { ModelInfo } from './upstream.ts';

interface DetectLocalOptions {
  transport: Transport;
  /** Sluice's own ports, which are skipped. */
  ownPorts: ReadonlySet<number>;
  /** The presets expected at each port. Default: the ports of the presets. */
  expected?: readonly { port: number; preset: string }[];
}

const limitMs = 500;

/** Presets by the `owned_by` of their models; other servers do not identify themselves there. */
const presetByOwner: Record<string, string> = { llamacpp: 'llama-cpp', vllm: 'vllm' };

/** Sorted by port. */
export async function detectLocal(options: DetectLocalOptions): Promise<DetectedServer[]> {
  const expected = options.expected ?? presets.flatMap(({ id, ports }) => ports.map((port) => ({ port, preset: id })));
  const ports = [...new Set(expected.map(({ port }) => port))].filter((port) => !options.ownPorts.has(port));
  const found = await Promise.all(
    ports
      .sort((a, b) => a - b)
      .map((port) => {
        const usualPresets = expected.filter((entry) => entry.port === port).map(({ preset }) => preset);
        return detectAt(port, usualPresets, options.transport);
      }),
  );
  return found.filter((server) => server !== null);
}

async function detectAt(port: number, usualPresets: string[], transport: Transport): Promise<DetectedServer | null> {
  const origin = `http://127.0.0.1:${port}`;
  const reply = await get(origin, '/v1/models', transport);
  if (!reply) return null;
  const models = reply.status === 200 ? parseModelList(reply.body, '') : null;
  const needsCredential = (reply.status === 401 || reply.status === 403) && isJson(reply);
  if (!models && !needsCredential) return null;
  const preset = await identify({ origin, usual: usualPresets, reply, models, transport });
  return {
    preset: preset.id,
    name: preset.name,
    baseUrl: `${origin}/v1`,
    needsCredential,
    models: [...(models?.keys() ?? [])],
  };
}

interface Answering {
  origin: string;
  usual: string[];
  reply: CollectedResponse;
  models: ReadonlyMap<string, ModelInfo> | null;
  transport: Transport;
}

/**
 * Identifies a server by what it reports about itself, otherwise by the presets of its port except those that would
 * have identified themselves.
 */
async function identify({ origin, usual: usualPresets, reply, models, transport }: Answering): Promise<Preset> {
  const owners = new Set([...(models?.values() ?? [])].map(({ ownedBy }) => presetByOwner[ownedBy]));
  const byOwner = [...owners].find((id) => id !== undefined);
  // Jan embeds llama.cpp.
  if (byOwner && !(byOwner === 'llama-cpp' && usualPresets.includes('jan'))) return presetOf(byOwner);
  if (reply.headers.server === 'llama.cpp' && !usualPresets.includes('jan')) return presetOf('llama-cpp');
  if (await isOllama(origin, transport)) return presetOf('ollama');
  const rest = usualPresets.filter((id) => id !== 'ollama' && id !== 'llama-cpp');
  return presetOf(rest[0] ?? 'custom');
}

/** Ollama serves its native API beside the OpenAI-compatible one. */
export async function isOllama(origin: string, transport: Transport): Promise<boolean> {
  const reply = await get(origin, '/api/version', transport);
  return reply?.status === 200 && isJson(reply) && reply.body.includes('"version"');
}

function isJson({ headers }: CollectedResponse): boolean {
  return /^application\/([\w.+-]+\+)?json\b/i.test(String(headers['content-type'] ?? ''));
}

function presetOf(id: string): Preset {
  const preset = presets.find((candidate) => candidate.id === id);
  if (!preset) throw new Error(`there is no preset "${id}"`);
  return preset;
}

/** null without a response in time. */
async function get(origin: string, path: string, transport: Transport): Promise<CollectedResponse | null> {
  try {
    return await readResponse(transport, {
      origin,
      method: 'GET',
      path,
      headers: { accept: 'application/json' },
      body: null,
      timeouts: { connectMs: limitMs, firstByteMs: limitMs, idleMs: limitMs, totalMs: limitMs },
      proxy: 'direct',
    });
  } catch (error) {
    if (error instanceof TransportError) return null;
    throw error;
  }
}

const localPresets = new Set<string | undefined>(presets.filter(({ isLocal }) => isLocal).map(({ id }) => id));

/**
 * As configured; if that says nothing, whether it is a known local server on this machine. Another server at such an
 * address may be a proxy to a service that is paid for.
 */
export function isLocalFree({ free, preset, baseUrl }: Pick<ProviderConfig, 'free' | 'preset' | 'baseUrl'>): boolean {
  return free ?? (localPresets.has(preset) && isLoopback(new URL(baseUrl).hostname));
}

/** Ollama's tag for models that its service runs, also as a part of another (ollama/ollama#14574): `gpt-oss:120b-cloud`. */
const cloudTag = /(?:^|[:-])cloud(?::|$)/i;

export function costsNothing(provider: Pick<ProviderConfig, 'free' | 'preset' | 'baseUrl'>, model: string): boolean {
  return isLocalFree(provider) && !cloudTag.test(model);
}
