import { useMemo } from 'react';
import type { CapturedMessage, HeaderList } from '../../../../server/contract/capture.ts';
import { contentOf, jsonValueOf } from '../../../../server/contract/conversation/body-content.ts';
import type { CapturedBody } from '../../../../server/contract/request-views.ts';
import classes from '../../../components/body/Body.module.css';
import { BodyView, Medium } from '../../../components/body/BodyView.tsx';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { useLocalization } from '../../../messages/use-messages.ts';
import { mediaOf } from '../../../state/captured/media-of.ts';

interface MessageTabProps {
  message: CapturedMessage<CapturedBody>;
  names: { headers: string; body: string };
  /** `POST https://…`, or the status. */
  line?: string | null;
}

/** Headers and body of a captured request or response, or why one is missing. */
export function MessageTab({ message, names, line = null }: MessageTabProps) {
  const { messages } = useLocalization();
  const { captureGaps: gaps } = messages.requests;
  const content = useMemo(() => contentOf(message), [message]);
  const media = useMemo(() => mediaOf(jsonValueOf(content)), [content]);
  return (
    <div className={classes.message}>
      {line && <p className={classes.url}>{line}</p>}
      {message.headers && message.headers.length > 0 && <Headers headers={message.headers} title={names.headers} />}
      {message.gap && <p className={classes.gap}>{gaps[message.gap]}</p>}
      {content && <BodyView content={content} title={names.body} bytes={message.bytes} />}
      {!content && !message.gap && <p className={classes.gap}>{messages.inspector.noBody}</p>}
      {media.length > 0 && (
        <div className={classes.media}>
          {withIndexKeys(media).map(({ key, value }) => (
            <Medium key={key} medium={value.medium} url={value.url} name={value.name} />
          ))}
        </div>
      )}
    </div>
  );
}

function Headers({ headers, title }: { headers: HeaderList; title: string }) {
  const { formats } = useLocalization();
  return (
    <details className={classes.details}>
      <summary>
        {title} <span className={classes.size}>{formats.number(headers.length)}</span>
      </summary>
      <div className={classes.acts}>
        <CopyButton value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')} label={title} />
      </div>
      <table className={classes.headers}>
        <tbody>
          {withIndexKeys(headers).map(({ key, value: [name, value] }) => (
            <tr key={key}>
              <th scope="row">{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
