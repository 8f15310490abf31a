/** Parses content blocks of Anthropic's API into parts of a turn. */
import { isObject } from '../../../contract/is-object.ts';
import type { MediaSource, Part, ResultPart } from '../../neutral/conversation.ts';
import type { Fields } from '../../neutral/fields.ts';
import { writeJson } from '../../neutral/json-text.ts';
import { invalid } from '../../neutral/losses.ts';
import { sourceOfData } from '../../neutral/media.ts';
import { envelopeOfNothing, unwrapSeal } from '../../neutral/requests/carried-reasoning.ts';

/** A string becomes one text part. Empty if the field is absent. */
export function parseBlocks(fields: Fields, name: string): Part[] {
  const content = fields.any(name);
  if (typeof content === 'string')
    return content === '' ? [] : [{ type: 'text', text: content, at: fields.path(name) }];
  return fields.items(name).flatMap(parseBlock);
}

function parseBlock(block: Fields): Part[] {
  const type = block.requiredText('type');
  const at = block.at;
  block.drop('no-equal', 'cache_control');
  const parts = parseKnown(type, block, at);
  // A block that only Anthropic knows is lost with all its fields.
  if (parts.every((part) => part.type !== 'foreign')) block.dropRest();
  return parts;
}

function parseKnown(type: string, block: Fields, at: string): Part[] {
  switch (type) {
    case 'text':
      block.drop('no-equal', ...(block.list('citations')?.length ? ['citations'] : []));
      return [{ type, text: block.requiredText('text'), at }];
    case 'image':
      return [{ type: 'media', kind: 'image', source: parseSource(block), at }];
    case 'document':
      return parseDocument(block);
    case 'search_result':
      return parseSearchResult(block);
    case 'thinking': {
      const signature = block.text('signature');
      const isSigned = signature !== undefined && signature !== '' && signature !== envelopeOfNothing;
      const seal = isSigned ? unwrapSeal(signature, 'signature') : undefined;
      return [{ type, text: block.text('thinking') ?? '', seal, at }];
    }
    case 'redacted_thinking':
      return [{ type: 'thinking', text: '', seal: unwrapSeal(block.requiredText('data'), 'redacted'), at }];
    case 'tool_use': {
      const id = block.requiredText('id');
      const input = writeJson(block.object('input') ?? {});
      block.drop('no-equal', ...(isDirect(block.object('caller')) ? [] : ['caller']));
      return [{ type: 'call', id, name: block.requiredText('name'), arguments: input, kind: 'function', at }];
    }
    case 'tool_result':
      return [parseResult(block)];
    case 'tool_reference':
      block.losses.emulated(at, 'as-text');
      return [{ type: 'text', text: `Tool: ${block.requiredText('tool_name')}`, isApart: true, at }];
    case 'tool_addition':
    case 'tool_removal':
      if (toolChangeIn(block) === null) return [{ type: 'foreign', name: type, at }];
      block.ignore('tool');
      return [];
    case 'compaction':
      return parseCompaction(block);
    default:
      return type.endsWith('_tool_result') ? parseServerResult(type, block) : [{ type: 'foreign', name: type, at }];
  }
}

interface ToolChange {
  name: string;
  isRemoval: boolean;
  /** Null: the tool was declared or defined before. */
  definition: Fields | null;
}

/** A change to the client's own tools; null for any other block, and for tools that only Anthropic can run. */
export function toolChangeIn(block: Fields): ToolChange | null {
  const type = block.text('type');
  if (type !== 'tool_addition' && type !== 'tool_removal') return null;
  const isRemoval = type === 'tool_removal';
  const tool = block.fields('tool');
  const kind = tool?.text('type');
  if (kind === 'tool_reference') return { name: tool?.requiredText('name') ?? '', isRemoval, definition: null };
  const definition = kind === 'tool_definition' && !isRemoval ? tool?.fields('definition') : undefined;
  const isOwn = definition !== undefined && ['custom', undefined].includes(definition.text('type'));
  return isOwn ? { name: definition.requiredText('name'), isRemoval, definition } : null;
}

function isDirect(caller: Record<string, unknown> | undefined): boolean {
  return caller === undefined || caller.type === 'direct';
}

function parseResult(block: Fields): ResultPart {
  const callId = block.requiredText('tool_use_id');
  const parts = parseBlocks(block, 'content').flatMap((part): ResultPart['parts'] => {
    if (part.type === 'text' || part.type === 'media') return [part];
    block.losses.dropped(part.at, part.type === 'foreign' ? 'provider-item' : 'no-equal');
    return [];
  });
  return { type: 'result', callId, parts, isError: block.boolean('is_error') ?? false, at: block.at };
}

/** The text of a search result, with its source. */
function parseSearchResult(block: Fields): Part[] {
  const head = [block.text('title'), block.text('source')].filter((line) => line !== undefined).join('\n');
  const parts = parseBlocks(block, 'content');
  const text = [head, ...parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))].join('\n\n');
  block.losses.emulated(block.at, 'as-text');
  block.ignore('citations');
  return [{ type: 'text', text, isApart: true, at: block.at }, ...parts.filter((part) => part.type !== 'text')];
}

/** A summary that replaces all earlier messages. */
function parseCompaction(block: Fields): Part[] {
  const { at } = block;
  const summary = block.text('content');
  if (summary === undefined) return [{ type: 'foreign', name: 'compaction', at }];
  block.ignore('encrypted_content');
  block.losses.emulated(at, 'as-text');
  return [{ type: 'text', text: `Summary of the conversation so far:\n${summary}`, isApart: true, at }];
}

/**
 * The result of a tool that Anthropic runs. Other APIs have no such calls, but the result is part of the conversation.
 */
function parseServerResult(type: string, block: Fields): Part[] {
  const { at } = block;
  const name = type.slice(0, -'_tool_result'.length);
  block.losses.emulated(at, 'as-text');
  block.ignore('tool_use_id', 'is_error', 'caller');
  const parts: Part[] = [{ type: 'text', text: `Result of ${name}:`, at }, ...parseFound(block)];
  return parts.map((part) => (part.type === 'text' ? { ...part, isApart: true } : part));
}

function parseFound(block: Fields): Part[] {
  const content = block.any('content');
  const at = block.path('content');
  if (isObject(content)) {
    const page = isObject(content.content) ? block.fields('content')?.fields('content') : undefined;
    if (page?.text('type') !== 'document') return [{ type: 'text', text: writeJson(readable(content)), at }];
    const url = typeof content.url === 'string' ? [{ type: 'text' as const, text: content.url, at }] : [];
    return [...url, ...parseDocument(page)];
  }
  const isOfBlocks = !Array.isArray(content) || content.every((each) => isObject(each) && each.type === 'text');
  if (isOfBlocks) return parseBlocks(block, 'content');
  return [{ type: 'text', text: writeJson(content.map(readable)), at }];
}

/** Removes members that only Anthropic can read. */
function readable(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !name.startsWith('encrypted_')));
}

function parseDocument(block: Fields): Part[] {
  const name = block.text('title');
  const context = block.text('context');
  block.drop('no-equal', ...(block.object('citations')?.enabled === true ? ['citations'] : []));
  const before: Part[] = context === undefined ? [] : [{ type: 'text', text: context, at: block.path('context') }];
  const source = block.fields('source');
  if (source?.text('type') === 'content') {
    if (name !== undefined) before.push({ type: 'text', text: name, at: block.path('title') });
    return [...before, ...parseBlocks(source, 'content')];
  }
  return [...before, { type: 'media', kind: 'document', source: parseSource(block), name, at: block.at }];
}

function parseSource(block: Fields): MediaSource {
  const source = block.fields('source') ?? invalid(block.path('source'), 'it is missing');
  const type = source.requiredText('type');
  if (type === 'base64') {
    return sourceOfData(source.requiredText('media_type'), source.requiredText('data'));
  }
  if (type === 'url') return { type, url: source.requiredText('url') };
  if (type === 'file') return { type, id: source.requiredText('file_id') };
  if (type === 'text') {
    source.ignore('media_type');
    return { type, text: source.requiredText('data') };
  }
  return invalid(source.path('type'), 'it is no type of a source');
}
