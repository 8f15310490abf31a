import { IconFile } from '@tabler/icons-react';
import type { ShownMedia } from '../../../server/contract/conversation/conversation.ts';

/**
 * An image, or a player, for data in the body itself. Data at another address is only named, because loading it would
 * reveal to its server that someone is viewing the request.
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
