/** Where what a system message says goes: before the conversation, or in its place among the turns. */
import type { Losses } from './losses.ts';
import type { Conversation, MediaPart, Part, TextPart } from './neutral.ts';

/** Other APIs have text alone in it: media stand in a turn of the user right after. */
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
