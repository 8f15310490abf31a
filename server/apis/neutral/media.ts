/** Media of a conversation: data URLs, and the kind of each media type. */
import type { MediaPart, MediaSource } from './conversation.ts';

/** Splits a base64 data URL into its parts; any other URL is kept. */
export function sourceOfUrl(url: string): MediaSource {
  if (url.slice(0, 'data:'.length).toLowerCase() !== 'data:') return { type: 'url', url };
  const comma = url.indexOf(',');
  // RFC 2397 and RFC 2045: neither the scheme nor a media type depends on the case of its letters.
  const head = comma === -1 ? '' : url.slice('data:'.length, comma).toLowerCase();
  if (!head.endsWith(';base64')) return { type: 'url', url };
  return { type: 'base64', mediaType: head.slice(0, head.indexOf(';')), data: url.slice(comma + 1) };
}

/** Null for a source that is neither a URL nor data. */
export function urlOfSource(source: MediaSource): string | null {
  if (source.type === 'url') return source.url;
  return source.type === 'base64' ? `data:${source.mediaType};base64,${source.data}` : null;
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
