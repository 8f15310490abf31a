/** The rows of the table of dialects. */
import {
  cited,
  counted,
  countedThoughts,
  ends,
  limited,
  refusing,
  sealedBack,
  sentBack,
  stream,
  text,
  tooLong,
  visible,
} from './answers.ts';
import { type Case, callIds } from './notation.ts';
import {
  beginning,
  cached,
  cacheKey,
  documentResults,
  documents,
  effort,
  endUser,
  forced,
  images,
  inFormat,
  kind,
  prefill,
  search,
  shown,
  single,
  stops,
  system,
  systemLater,
  temperature,
  thread,
  threadOn,
  toolUse,
  uploaded,
  withImage,
  withTools,
} from './requests.ts';

export interface Row {
  name: string;
  cases: readonly Case[];
  /** Text that must arrive, whatever else is lost. */
  mark?: string;
}

export const rows: readonly Row[] = [
  { name: 'text', cases: [text] },
  { name: 'stream', cases: [stream] },
  { name: 'system', cases: [system] },
  { name: 'system between turns', cases: [systemLater], mark: kind },
  { name: 'images', cases: [shown(images)] },
  { name: 'PDF', cases: [shown(documents)] },
  { name: 'files by their id', cases: [uploaded] },
  { name: 'tools', cases: [toolUse(callIds.slice(0, 1))] },
  { name: 'parallel tools', cases: [toolUse(callIds)] },
  { name: 'one tool at a time', cases: [withTools(single)] },
  { name: 'tool results with images', cases: [withImage], mark: 'AAAA' },
  { name: 'tool results with documents as text', cases: [documentResults] },
  { name: 'forced tool', cases: [withTools(forced)], mark: 'read' },
  { name: 'web search of the provider', cases: [search] },
  { name: 'structured output', cases: [inFormat], mark: 'verdict' },
  { name: 'temperature', cases: [temperature] },
  { name: 'stop sequences', cases: [stops] },
  { name: 'thinking effort', cases: [effort] },
  { name: 'thinking visible', cases: [visible] },
  { name: 'thinking round trip', cases: [sentBack] },
  { name: 'sealed thinking round trip', cases: [sealedBack] },
  { name: 'prefill', cases: [prefill], mark: beginning },
  { name: 'citations', cases: [cited] },
  { name: 'refusals', cases: [refusing] },
  { name: 'threads: the first request', cases: [thread] },
  { name: 'threads: the next request', cases: [threadOn] },
  { name: 'end user', cases: [endUser] },
  { name: 'cache', cases: [cached] },
  { name: 'cache key', cases: [cacheKey] },
  {
    name: 'stop reasons',
    cases: [
      ends(['length', 'max_output_tokens', 'max_tokens', 'MAX_TOKENS']),
      ends(['content_filter', 'content_filter', 'refusal', 'SAFETY']),
    ],
  },
  { name: 'usage', cases: [counted] },
  { name: 'usage of thinking', cases: [countedThoughts] },
  { name: 'errors', cases: [limited, tooLong] },
];
