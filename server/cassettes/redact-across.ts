/** Removes secrets that are split over several events of a stream. */
import type { TextRange } from './bounded-search.ts';
import { type Redactor, redactionMark } from './redactor.ts';

/** One text in the data of an event. */
interface Fragment {
  text: string;
  put(text: string): void;
}

/** Texts at the same place in all events are read as one text. Modifies the data of the events. */
export function redactAcross(events: readonly { data: unknown }[], redactor: Redactor): void {
  const byPlace = new Map<string, Fragment[]>();
  for (const event of events) {
    const put = (text: string) => {
      event.data = text;
    };
    collect(event.data, '', put, byPlace);
  }
  for (const fragments of byPlace.values()) {
    // Names and ids, which are the same in all events.
    if (fragments.every(({ text }) => text === fragments[0]?.text)) continue;
    const ranges = redactor.find(fragments.map(({ text }) => text).join(''));
    if (ranges.length === 0) continue;
    let from = 0;
    for (const { text, put } of fragments) {
      const redacted = withoutRanges(text, from, ranges);
      if (redacted !== text) put(redacted);
      from += text.length;
    }
  }
}

function collect(value: unknown, path: string, put: Fragment['put'], byPath: Map<string, Fragment[]>): void {
  if (typeof value === 'string') {
    const fragments = byPath.get(path);
    if (fragments) fragments.push({ text: value, put });
    else byPath.set(path, [{ text: value, put }]);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => {
      const putItem = (text: string) => {
        value[index] = text;
      };
      collect(item, `${path}/*`, putItem, byPath);
    });
  } else if (typeof value === 'object' && value !== null) {
    const members: Record<string, unknown> = Object(value);
    // Answers and blocks that are sent in parallel are distinguished by their index.
    const ownPath = typeof members.index === 'number' ? `${path}#${members.index}` : path;
    for (const [name, item] of Object.entries(members)) {
      const putMember = (text: string) => {
        members[name] = text;
      };
      collect(item, `${ownPath}/${name}`, putMember, byPath);
    }
  }
}

/** The part of the joined text that begins at `from`, with a mark at the beginning of each range. */
function withoutRanges(text: string, from: number, ranges: readonly TextRange[]): string {
  let at = 0;
  let redacted = '';
  for (const { start, end } of ranges) {
    if (end <= from || start >= from + text.length) continue;
    redacted += text.slice(at, Math.max(start - from, 0)) + (start >= from ? redactionMark : '');
    at = Math.min(end - from, text.length);
  }
  return redacted + text.slice(at);
}
