import { IconDownload } from '@tabler/icons-react';
import type { BodyContent } from '../../../server/contract/conversation/body-content.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { CopyButton } from '../copying/CopyButton.tsx';
import classes from './Body.module.css';
import { Medium } from './Medium.tsx';

interface MediaBodyProps {
  content: Extract<BodyContent, { base64: string }>;
  title: string;
  bytes: number | null;
}

/** A binary body: an image or a player, or else its type and a download link. */
export function MediaBody({ content, title, bytes }: MediaBodyProps) {
  const { messages, formats } = useLocalization();
  const { asBase64 } = messages.requests;
  const url = `data:${content.mediaType};base64,${content.base64}`;
  return (
    <section className={classes.frame} aria-label={title}>
      <div className={classes.bar}>
        <h3 className={classes.barTitle}>{title}</h3>
        <span className={classes.size}>
          {content.mediaType}
          {bytes !== null && ` · ${formats.bytes(bytes)}`}
        </span>
        <div className={classes.acts}>
          <CopyButton value={content.base64} label={asBase64(title)} />
        </div>
      </div>
      <div className={classes.media}>
        {content.kind === 'media' && <Medium medium={content.medium} url={url} name={title} />}
        <a href={url} download={`body.${content.mediaType.split('/')[1] ?? 'bin'}`}>
          <IconDownload size={14} aria-hidden /> {messages.inspector.save}
        </a>
      </div>
    </section>
  );
}
