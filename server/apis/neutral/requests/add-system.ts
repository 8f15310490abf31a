/** Adds the text of a system message: before the conversation, or as a turn at its position. */

import type { Conversation, MediaPart, Part, TextPart } from '../conversation.ts';
import type { Losses } from '../losses.ts';

/** System messages of other APIs contain only text, so media become a user turn directly after it. */
export function addSystem(
  { instructions, turns }: Pick<Conversation, 'instructions' | 'turns'>,
  parts: readonly Part[],
  losses: Losses,
): void {
  const texts: TextPart[] = [];
  const media: MediaPart[] = [];
  for (const part of parts) {
    if (part.type === 'text') texts.push(part);
    else if (part.type === 'refusal') texts.push({ ...part, type: 'text' });
    else if (part.type === 'media') {
      losses.emulated(part.at, 'moved-media');
      media.push(part);
    } else losses.dropped(part.at, 'provider-item');
  }
  if (turns.length === 0) for (const text of texts) instructions.push(text);
  else if (texts.length > 0) turns.push({ role: 'system', parts: texts });
  if (media.length > 0) turns.push({ role: 'user', parts: media });
}
