import { IconFile } from '@tabler/icons-react';
import type { ShownMedia } from '../conversation/conversation.ts';

/**
 * A picture or a player of what is in the body itself. What lies elsewhere is named only: to load it would tell its server
 * that somebody looks at the request.
 */
export function Medium({ medium, url, name }: Pick<ShownMedia, 'medium' | 'url' | 'name'>) {
  if (url?.startsWith('data:')) {
    if (medium === 'image') return <img src={url} alt={name} />;
    const Player = medium;
    if (Player === 'audio' || Player === 'video') {
      return (
        <Player controls src={url} aria-label={name}>
          <track kind="captions" />
        </Player>
      );
    }
  }
  return (
    <span>
      <IconFile size={14} aria-hidden /> {name}
    </span>
  );
}
