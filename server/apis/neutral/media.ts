/** Media of a conversation: data URLs, and the kind of each media type. */
import { decodeSegment } from '../core/requests/segments.ts';
import { entryOf } from '../core/table-entry.ts';
import type { MediaPart, MediaSource, TextPart } from './conversation.ts';

type DataSource = Extract<MediaSource, { type: 'base64' }>;

/** Splits a data URL into its parts; any other URL is kept. */
export function sourceOfUrl(url: string): MediaSource {
  if (url.slice(0, 'data:'.length).toLowerCase() !== 'data:') return { type: 'url', url };
  const comma = url.indexOf(',');
  if (comma === -1) return { type: 'url', url };
  // RFC 2397 and RFC 2045: neither the scheme nor a media type depends on the case of its letters.
  const head = url.slice('data:'.length, comma).toLowerCase();
  const data = url.slice(comma + 1);
  if (head.endsWith(';base64')) return sourceOfData(head, data);
  // Text, in escapes: `data:image/svg+xml;utf8,%3Csvg…`.
  return sourceOfData(head === '' ? 'text/plain' : head, Buffer.from(decodeSegment(data)).toString('base64'));
}

/** Media with the label that a client or provider gave them: it may be in capitals, old, missing or wrong. */
export function sourceOfData(label: string, data: string): DataSource {
  return { type: 'base64', mediaType: typeOfBytes(data) ?? mediaTypeOf(label), data };
}

/** Names that browsers and libraries give to registered types. Source: WHATWG, "MIME Sniffing"; IANA, "Media Types". */
const registeredNames: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/x-webp': 'image/webp',
  'application/x-pdf': 'application/pdf',
};

/** The registered name of a media type, without parameters. */
export function mediaTypeOf(label: string): string {
  const [name = ''] = label.split(';', 1);
  const plain = name.trim().toLowerCase();
  return entryOf(registeredNames, plain) ?? plain;
}

/** By the first bytes, of those that every API takes. Source: WHATWG, "MIME Sniffing", 6.1. */
function typeOfBytes(base64: string): string | null {
  const start = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif';
  if (start.startsWith('RIFF') && start.slice(8, 14) === 'WEBPVP') return 'image/webp';
  return start.startsWith('%PDF-') ? 'application/pdf' : null;
}

/** Null for a source that is neither a URL nor data. */
export function urlOfSource(source: MediaSource): string | null {
  if (source.type === 'url') return source.url;
  return source.type === 'base64' ? `data:${source.mediaType};base64,${source.data}` : null;
}

/** Answers of most APIs contain no images. As Markdown, the client can at least show the link. */
export function pictureAsText({ source }: MediaPart): string {
  return `![](${urlOfSource(source) ?? ''})`;
}

export function kindOfMediaType(mediaType: string): MediaPart['kind'] {
  const kind = mediaType.slice(0, mediaType.indexOf('/'));
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
}

/** The document's name, which is required; a default if the client gave none. */
export function fileNameOf({ name, source }: MediaPart): string {
  if (name !== undefined) return name;
  const mediaType = source.type === 'base64' ? source.mediaType : '';
  return mediaType === 'text/plain' ? 'document.txt' : 'document.pdf';
}

/** The text of a document, preceded by its title. */
export function textOfDocument({ name }: MediaPart, content: string): string {
  return name === undefined ? content : `${name}\n\n${content}`;
}

/** What can be written as text; null for media. */
export function textIn(part: TextPart | MediaPart): string | null {
  if (part.type === 'text') return part.text;
  return part.source.type === 'text' ? textOfDocument(part, part.source.text) : null;
}
