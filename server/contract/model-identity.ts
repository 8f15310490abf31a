/**
 * What model a name means, in every form that services and clients write: prices, facts, bans and routing look models up
 * by it. Pure. Does not import zod, because the window imports it. Nothing here says which models exist: an unknown name has
 * an identity, too.
 */

export interface ModelIdentity {
  /** Who made it, such as `anthropic`; null if neither the name nor its prefix tells. */
  maker: string | null;
  /**
   * The name that all forms share, without place, date and suffixes: lower case, `-` between the numbers of a version,
   * Claude's tier before its version (`claude-sonnet-3-5`).
   */
  model: string;
  /** `model` up to its version: `gpt`, `claude-sonnet`, `llama`. */
  family: string;
  /** The numbers of its version, `[4, 5]`; empty if it has none. */
  version: readonly number[];
  /** As written, such as `20251101`, `2025-08-07`, `0613` or `001`. */
  date: string | null;
  /** Such as `free`, `thinking`, `latest`, `preview`, `1m` or `ft`; in the order in which they are written, from the end. */
  suffixes: readonly string[];
  /** The name without its place, in lower case, with date and suffixes as they are written. */
  written: string;
  /** Whether the maker and a point stand before it, as on Bedrock. */
  isPointed: boolean;
  /** What stands before the maker there: `us` in `us.anthropic.claude-…`. */
  region: string | null;
}

/** Clients choose the names, so what is remembered is bounded, in number and in length. */
const maxRemembered = 5_000;
const maxRememberedLength = 200;
/** The longest part of a name, below its prefixes, that is read. */
const maxReadLength = 300;
const remembered = new Map<string, ModelIdentity>();

export function identify(name: string): ModelIdentity {
  const known = remembered.get(name);
  if (known) return known;
  const identity = read(name);
  if (name.length <= maxRememberedLength) {
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(name, identity);
  }
  return identity;
}

/** Whether two names mean the same model. One that is named with a larger context window is another one. */
export function isSameModel(one: string | null, other: string | null): boolean {
  if (one === null || other === null) return one === other;
  const [identity, otherIdentity] = [identify(one), identify(other)];
  return identity.model === otherIdentity.model && contextIn(identity) === contextIn(otherIdentity);
}

const contextIn = ({ suffixes }: ModelIdentity) => suffixes.find((suffix) => suffix === '1m' || suffix === 'extended');

/** Compares versions: negative if the model's is lower, 0 if equal. A model without a version is newer than all. */
export function compareVersion({ version }: ModelIdentity, [major, minor]: readonly [number, number]): number {
  const [ownMajor = Number.POSITIVE_INFINITY, ownMinor = 0] = version;
  return ownMajor - major || ownMinor - minor;
}

/** One spelling of a text for comparing names: unicode's compatible form, in lower case. */
export function foldName(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

/** A name, or a part of one, with the separators and the order of words that `ModelIdentity.model` has. */
export function canonicalName(folded: string): string {
  const separated = folded.replace(/[._:\s]+/g, '-').replace(/(\d)p(?=\d)/g, '$1-');
  const unplaced = separated.startsWith('databricks-') ? separated.slice('databricks-'.length) : separated;
  const plain = unplaced.startsWith('meta-llama') ? unplaced.slice('meta-'.length) : unplaced;
  // `llama3` and `llama-3`, `qwen3` and `qwen-3`; of two letters and less (`o3`, `k2`) the number is a part of the word.
  const apart = plain.replace(/^([a-z]{3,16})(?=\d)/, '$1-').replace(/^llama-v(?=\d)/, 'llama-');
  // Azure's names have no points: `gpt-35-turbo`.
  const pointed = apart.replace(/^gpt-35(?=-|$)/, 'gpt-3-5');
  return pointed.startsWith('claude-') ? canonicalClaude(pointed) : pointed;
}

function canonicalClaude(name: string): string {
  const [whole = '', major = '', minor, tier = ''] =
    /^claude-(\d)(?:-(\d{1,2}))?-(opus|sonnet|haiku|fable|mythos)(?=-|$)/.exec(name) ?? [];
  const version = minor === undefined ? major : `${major}-${minor}`;
  const ordered = whole === '' ? name : `claude-${tier}-${version}${name.slice(whole.length)}`;
  // `claude-opus-4-0` is Anthropic's own alias of `claude-opus-4-20250514`.
  return ordered.replace(/^(claude-[a-z]{1,16}-\d)-0(?=-|$)/, '$1');
}

function read(name: string): ModelIdentity {
  const [last, prefix] = lastSegment(foldName(name));
  const tuned = /^ft:([^:]*)/.exec(last);
  const placed = unplaced(tuned?.[1] ?? last);
  const suffixes = tuned ? ['ft'] : [];
  const tagged = withoutTag(placed, suffixes);
  const maker = makerOf(tagged) ?? placed.maker ?? makersByPrefix.get(prefix) ?? null;
  const { rest, date } = withoutEnds(tagged, maker, suffixes);
  const named = maker === 'deepseek' && /^[rv]\d/.test(rest) ? `deepseek-${rest}` : rest;
  const model = canonicalName(named);
  return {
    maker,
    model,
    ...versionIn(model),
    date,
    suffixes,
    written: tuned ? last : placed.name,
    isPointed: placed.isPointed,
    region: placed.region,
  };
}

/** The last part of a path, and the one that may be the maker: not `models` in `publishers/google/models/gemini-…`. */
function lastSegment(folded: string): [last: string, prefix: string] {
  const path = folded.replace(/\/{1,8}$/, '');
  const start = path.lastIndexOf('/') + 1;
  const last = path.slice(start).replace(/^~/, '').slice(0, maxReadLength);
  const before = path
    .slice(Math.max(0, start - maxReadLength), start)
    .split('/')
    .slice(0, -1);
  const prefix = (before.at(-1) === 'models' ? before.at(-2) : before.at(-1)) ?? '';
  return [last, prefix.replace(/^[~@]/, '')];
}

interface Unplaced {
  name: string;
  maker: string | null;
  /** In the form of Bedrock and OCI, which put the maker and a point before a name. */
  isPointed: boolean;
  region: string | null;
}

/** `us.anthropic.claude-…`: an optional region, and the maker. */
function unplaced(name: string): Unplaced {
  const [first, second] = name.split('.', 3);
  const at = [first, second].findIndex((part) => part !== undefined && pointedMakers.has(part));
  if (at === -1) return { name, maker: null, isPointed: false, region: null };
  const maker = (at === 0 ? first : second) ?? '';
  const start = (at === 0 ? 0 : (first ?? '').length + 1) + maker.length + 1;
  const region = at === 0 ? null : (first ?? null);
  return start >= name.length
    ? { name, maker: null, isPointed: false, region: null }
    : { name: name.slice(start), maker: makersByPrefix.get(maker) ?? maker, isPointed: true, region };
}

/** Bedrock's revision (`-v1:0`), and what follows a colon, an `@` or stands in brackets, unless it is a size (`llama3:8b`). */
function withoutTag({ name, isPointed }: Unplaced, suffixes: string[]): string {
  let rest = isPointed ? name.replace(/(?:(?:-v?1)?:\d{1,3}(?::\d{1,4}k)?|-v1)$/, '') : name;
  const bracketed = /\[([^[\]]{1,32})\]$/.exec(rest);
  if (bracketed?.[1] !== undefined) {
    suffixes.push(bracketed[1]);
    rest = rest.slice(0, bracketed.index);
  }
  const colon = rest.lastIndexOf(':');
  if (colon > 0 && !/^e?\d/.test(rest.slice(colon + 1))) {
    suffixes.push(rest.slice(colon + 1));
    rest = rest.slice(0, colon);
  }
  const at = rest.lastIndexOf('@');
  if (at <= 0) return rest;
  const version = rest.slice(at + 1);
  if (/^\d/.test(version)) return `${rest.slice(0, at)}-${version}`;
  suffixes.push(version);
  return rest.slice(0, at);
}

/** Dates: `2025-08-07`, `20251101`, `09-2025`, `250615`, `0613`. */
const datePattern =
  /-(20\d\d-\d\d-\d\d|20\d{6}|\d\d-20\d\d|2\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))$/;
/** Google's revisions, and its dates of previews: `gemini-2.0-flash-001`, `gemini-2.5-pro-preview-06-05`. */
const googleDate = /(?:-(00\d)|(?<=-(?:preview|exp))-(\d\d-\d\d))$/;

function withoutEnds(name: string, maker: string | null, suffixes: string[]): { rest: string; date: string | null } {
  let rest = name;
  let date: string | null = null;
  for (let ends = 0; ends < 4; ends += 1) {
    const end = endOf(rest, maker);
    if (!end || end.length + 1 >= rest.length) break;
    rest = rest.slice(0, -end.length - 1);
    if (!/^[\dv]/.test(end)) suffixes.push(end);
    else if (!end.startsWith('v')) date ??= end;
  }
  return { rest, date };
}

/** What follows the last `-` that says no model: a date, a stage or a revision. */
function endOf(name: string, maker: string | null): string | null {
  if (name.endsWith('-latest')) return 'latest';
  if (maker === 'google') {
    // Of other makers, a preview is a model of its own: `gpt-4o-search-preview`.
    if (name.endsWith('-preview')) return 'preview';
    const [, revision, day] = googleDate.exec(name) ?? [];
    // Other models of Google have their version there: `text-embedding-004`.
    const isRevision = revision !== undefined && name.startsWith('gemini-') && !name.startsWith('gemini-embedding');
    if (isRevision || day !== undefined) return revision ?? day ?? null;
  }
  if (maker === 'anthropic') {
    const [, revision = null] = /-(v\d)$/.exec(name) ?? [];
    if (revision) return revision;
  }
  // Mistral numbers its models by year and month: `mistral-large-2407` and `mistral-large-2512` are two.
  return maker === 'mistral' ? null : (datePattern.exec(name)?.[1] ?? null);
}

/** The version is one or two digits, and two more after a `-`; three digits and `32b` are sizes, `4o` is a version. */
const versionPattern = /^([a-z]+(?:-[a-z]+){0,6}?)-?(\d{1,2})(?:-(\d{1,2})(?=-|$))?(?=[on]?(?:-|$))/;

function versionIn(model: string): Pick<ModelIdentity, 'family' | 'version'> {
  const [, family, major, minor] = versionPattern.exec(model) ?? [];
  if (family === undefined) return { family: model, version: [] };
  const version = minor === undefined ? [Number(major)] : [Number(major), Number(minor)];
  return { family: family.replace(/-v$/, ''), version };
}

/** The first words of makers' models. */
const beginnings: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['claude'],
  openai:
    'gpt chatgpt codex o1 o3 o4 dall-e whisper tts-1 sora text-embedding-3 text-embedding-ada omni-moderation'.split(
      ' ',
    ),
  google: 'gemini gemma imagen veo learnlm lyria deep-research'.split(' '),
  xai: ['grok'],
  mistral: 'mistral ministral magistral mixtral codestral devstral pixtral voxtral'.split(' '),
  deepseek: ['deepseek'],
  meta: ['llama', 'meta-llama'],
  qwen: ['qwen', 'qwq'],
  moonshot: ['kimi', 'moonshot'],
  zai: ['glm'],
  minimax: ['minimax'],
  amazon: ['nova', 'titan'],
  perplexity: ['sonar'],
};

function makerOf(name: string): string | null {
  const plain = name.startsWith('databricks-') ? name.slice('databricks-'.length) : name;
  for (const maker in beginnings) {
    if (beginnings[maker]?.some((beginning) => beginsWith(plain, beginning))) return maker;
  }
  return null;
}

/** A number may follow a word at once (`llama3`), but no letter does: the ids of inference profiles are arbitrary. */
function beginsWith(name: string, word: string): boolean {
  if (!name.startsWith(word)) return false;
  return !(/\d$/.test(word) ? /[a-z\d]/ : /[a-z]/).test(name.charAt(word.length));
}

/** Makers as services write them before a name. */
const makersByPrefix = new Map([
  ...Object.keys(beginnings).map((maker) => [maker, maker] as const),
  ['x-ai', 'xai'],
  ['mistralai', 'mistral'],
  ['moonshotai', 'moonshot'],
  ['deepseek-ai', 'deepseek'],
  ['meta-llama', 'meta'],
  ['meta-models', 'meta'],
  ['zai-org', 'zai'],
  ['z-ai', 'zai'],
  ['minimaxai', 'minimax'],
  ['alibaba', 'qwen'],
  ['nvidia', 'nvidia'],
  ['cohere', 'cohere'],
  ['microsoft', 'microsoft'],
]);

/** What Bedrock, and OCI, put before a point. */
const pointedMakers: ReadonlySet<string> = new Set(
  (
    'ai21 amazon anthropic cohere deepseek google luma meta minimax mistral moonshot moonshotai nvidia openai qwen ' +
    'stability twelvelabs writer xai zai'
  ).split(' '),
);

const modelUses = ['chat', 'embeddings', 'images', 'speech', 'transcription', 'moderations', 'videos'] as const;
export type ModelUse = (typeof modelUses)[number];

const signs: readonly (readonly [ModelUse | 'other', readonly string[]])[] = [
  ['embeddings', ['embed', 'bge-', 'e5-']],
  ['images', ['image', 'dall-e', 'banana', 'flux', 'imagen', 'stable-diffusion', 'sdxl']],
  ['speech', ['tts', 'speech', 'orpheus']],
  ['transcription', ['whisper', 'transcri']],
  ['moderations', ['moderation']],
  ['videos', ['video', 'sora', 'veo-']],
  ['other', ['rerank', 'realtime', 'guard']],
];

/**
 * Guesses the use of a model from its name. Does not import zod, because the window imports it. Nothing may depend on a
 * correct guess.
 *
 * Null for any other use, such as ranking texts.
 */
export function purposeOf(model: string): ModelUse | null {
  const name = identify(model).written;
  const use = signs.find(([, parts]) => parts.some((part) => name.includes(part)))?.[0] ?? 'chat';
  return use === 'other' ? null : use;
}
