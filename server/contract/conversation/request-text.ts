/** What a request says, in a few words: its person's messages, its tool calls, and where its client works. Pure. */
import type { RequestText, ToolCallText } from '../session-views.ts';
import {
  type Json,
  objectOf,
  readRequest,
  type ShownCall,
  type ShownMessage,
  type ShownPart,
} from './read-conversation.ts';

type Said = Pick<RequestText, 'opening' | 'prompt' | 'calls' | 'folder' | 'branch'>;

const longestText = 200;
const longestArgument = 120;
/** Of one text, so that none takes long. */
const mostRead = 100_000;

/** @param isCut the end of the body is missing, so that what it ends with is unknown */
export function readRequestText(body: unknown, isCut: boolean): Said {
  const messages = readRequest(body);
  const { folder, branch } = placeOf(messages);
  const said = messages.filter(({ role }) => role === 'user').map(personsText);
  const newest = isCut ? [] : messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  const prompts = newest.filter(({ role }) => role === 'user').map(personsText);
  return {
    opening: said.find((text) => text !== '') ?? null,
    prompt: prompts.findLast((text) => text !== '') ?? null,
    calls: callsAnswered(messages, newest),
    folder,
    branch,
  };
}

/** What a person wrote, without what the client adds to it; empty if there is nothing. */
function personsText({ parts }: ShownMessage): string {
  const text = textsOf(parts).map(withoutContext).filter(Boolean).join(' ');
  return shortened(text);
}

const textsOf = (parts: readonly ShownPart[]) =>
  parts.flatMap((part) => (part.kind === 'text' ? [part.text.slice(0, mostRead)] : []));

const element = /<([A-Za-z][\w-]{0,50})>/g;
/** Clients add elements of such names, as in `<system-reminder>`, `<environment_context>` and `<INSTRUCTIONS>`. */
const clientsName = /[-_]|^[A-Z]+$/;
const slashCommand = /<command-name>([^<]{1,100})<\/command-name>/;
/** Where Codex puts the file. */
const instructions = '# AGENTS.md instructions';

function withoutContext(text: string): string {
  const command = slashCommand.exec(text)?.[1];
  if (command !== undefined) return command.trim();
  if (text.startsWith(instructions)) return '';
  let kept = '';
  let from = 0;
  element.lastIndex = 0;
  for (let found = element.exec(text); found; found = element.exec(text)) {
    const name = found[1] ?? '';
    const closing = `</${name}>`;
    const end = clientsName.test(name) ? text.indexOf(closing, element.lastIndex) : -1;
    // Not closed: the rest is searched no further, so that this takes one pass.
    if (end === -1) continue;
    kept += text.slice(from, found.index);
    from = end + closing.length;
    element.lastIndex = from;
  }
  return (kept + text.slice(from)).trim();
}

/** Its beginning, in one line. */
export function shortened(text: string, longest = longestText): string {
  const line = text
    .slice(0, longest * 4)
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).trimEnd()}…`;
}

function callsAnswered(messages: readonly ShownMessage[], newest: readonly ShownMessage[]): ToolCallText[] {
  const results = newest.flatMap(({ parts }) => parts.filter((part) => part.kind === 'result'));
  if (results.length === 0) return [];
  const calls = new Map<string, ShownCall>();
  for (const { parts } of messages) for (const part of parts) if (part.kind === 'call') calls.set(part.id, part);
  return results.flatMap(({ callId }) => {
    const call = calls.get(callId);
    return call ? [{ name: call.name, argument: argumentOf(call.input) }] : [];
  });
}

/** The names of arguments that tell most, the most telling first. */
const telling = ['command', 'cmd', 'file_path', 'filePath', 'path', 'pattern', 'query', 'url', 'description', 'prompt'];

function argumentOf(input: string): string | null {
  const values = parsed(input);
  const value = telling.map((name) => values[name]).find(isTold) ?? Object.values(values).find(isTold);
  // Such as ["bash", "-lc", "ls"].
  const text = Array.isArray(value) ? value.at(-1) : value;
  return typeof text === 'string' ? shortened(text, longestArgument) : null;
}

const isTold = (value: unknown) => (Array.isArray(value) ? value.at(-1) : value) !== '' && isText(value);
const isText = (value: unknown) =>
  typeof value === 'string' || (Array.isArray(value) && typeof value.at(-1) === 'string');

function parsed(input: string): Json {
  try {
    return objectOf(JSON.parse(input));
  } catch {
    return {};
  }
}

/** In the environment that Claude Code, opencode and others describe in their system prompt. */
const workingFolder = /^[ \t]*(?:- )?(?:Primary w|W)orking directory: ([^\r\n]{1,500})$/m;
const currentBranch = /^Current branch: (\S{1,200})$/m;
/** In what Codex adds as a person's message. */
const codexFolder = /<environment_context>\s{0,20}<cwd>([^<\r\n]{1,500})<\/cwd>/;

function placeOf(messages: readonly ShownMessage[]): Pick<RequestText, 'folder' | 'branch'> {
  const texts = (role: ShownMessage['role']) =>
    messages.filter((each) => each.role === role).flatMap(({ parts }) => textsOf(parts));
  const system = texts('system');
  const first = (among: readonly string[], pattern: RegExp) =>
    among.map((text) => pattern.exec(text)?.[1]?.trim()).find((each) => each !== undefined) ?? null;
  return {
    folder: first(system, workingFolder) ?? first(texts('user'), codexFolder),
    branch: first(system, currentBranch),
  };
}
