import { Button } from '@mantine/core';
import { IconPlayerRecord } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { CaptureAbsence, CapturedMessage, HeaderList } from '../../../../server/contract/capture.ts';
import { contentOf, jsonValueOf } from '../../../../server/contract/conversation/body-content.ts';
import {
  readConversation,
  type ShownMedia,
  type ShownPart,
} from '../../../../server/contract/conversation/read-conversation.ts';
import type { CapturedBody, RequestInFull, RequestView } from '../../../../server/contract/request-views.ts';
import bodyClasses from '../../../components/body/Body.module.css';
import { BodyView, Medium } from '../../../components/body/BodyView.tsx';
import { ConversationView } from '../../../components/conversation/ConversationView.tsx';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { useCommand } from '../../../state/control/use-command.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useKey } from '../../../state/control/use-found.ts';
import { useRights } from '../../../state/rights/use-rights.ts';
import classes from '../detail/RequestPanel.module.css';

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
    <div className={bodyClasses.message}>
      {line && <p className={bodyClasses.url}>{line}</p>}
      {message.headers && message.headers.length > 0 && <Headers headers={message.headers} title={names.headers} />}
      {message.gap && <p className={bodyClasses.gap}>{gaps[message.gap]}</p>}
      {content && <BodyView content={content} title={names.body} bytes={message.bytes} />}
      {!content && !message.gap && <p className={bodyClasses.gap}>{messages.inspector.noBody}</p>}
      {media.length > 0 && (
        <div className={bodyClasses.media}>
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
    <details className={bodyClasses.details}>
      <summary>
        {title} <span className={bodyClasses.size}>{formats.number(headers.length)}</span>
      </summary>
      <div className={bodyClasses.acts}>
        <CopyButton value={headers.map(([name, value]) => `${name}: ${value}`).join('\n')} label={title} />
      </div>
      <table className={bodyClasses.headers}>
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

/** The conversation, independent of the API it was held in. Answers in audio or images are shown as such. */
export function ConversationTab({ capture }: { capture: NonNullable<RequestInFull['capture']> }) {
  const { inspector: names } = useMessages();
  const { request, response } = capture;
  const requestContent = useMemo(() => contentOf(request), [request]);
  const responseContent = useMemo(() => contentOf(response), [response]);
  const conversation = useMemo(
    () => readConversation(jsonValueOf(requestContent), jsonValueOf(responseContent)),
    [requestContent, responseContent],
  );
  const isCut = request.gap === 'too-long' || response.gap === 'too-long';
  return (
    <>
      {isCut && <p className={classes.note}>{names.conversationCut}</p>}
      {conversation && <ConversationView conversation={conversation} />}
      {responseContent?.kind === 'stream' && responseContent.assembled?.isComplete === false && (
        <p className={classes.note}>{names.streamIncomplete}</p>
      )}
      {responseContent?.kind === 'media' && (
        <div className={classes.media}>
          <Medium
            medium={responseContent.medium}
            url={`data:${responseContent.mediaType};base64,${responseContent.base64}`}
            name={names.answer}
          />
        </div>
      )}
      {!conversation && responseContent?.kind !== 'media' && <p className={classes.note}>{names.noConversation}</p>}
    </>
  );
}

interface CaptureAbsentProps {
  request: Pick<RequestView, 'keyId'>;
  absence: CaptureAbsence | null;
}

/** Why headers and bodies were not captured, and a button that captures the next ten minutes. */
export function CaptureAbsent({ request: { keyId }, absence }: CaptureAbsentProps) {
  const { messages } = useLocalization();
  return (
    <div className={classes.absent}>
      <p>{messages.requests.captureAbsences[absence ?? 'unknown']}</p>
      {absence !== 'running' && absence !== 'session' && <CaptureButton keyId={keyId} />}
    </div>
  );
}

const minutes = 10;

/**
 * Starts capturing the requests of a key, or all requests if there was no key. Renders nothing if the person may not do
 * that.
 */
export function CaptureButton({ keyId }: { keyId: string | null }) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const command = useCommand();
  const { isAdmin, manages } = useRights();
  const key = useKey(keyId);
  const running = useControlState((state) =>
    state.views?.status.capture.find(({ kind, id }) => kind === 'all' || (kind === 'key' && id === keyId)),
  );
  if (running) return <p className={classes.note}>{names.capturing(formats.clock(running.untilMs))}</p>;
  if (!(key ? manages(key.group) : isAdmin)) return null;
  const start = () => void command.run({ type: 'capture.start', minutes, ...(key && { key: key.id }) });
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconPlayerRecord size={14} aria-hidden />}
        loading={command.isRunning}
        onClick={start}
      >
        {key
          ? names.captureKey(formats.number(minutes), key.name ?? key.id)
          : names.captureAll(formats.number(minutes))}
      </Button>
      {command.problem && <CommandProblem problem={command.problem} />}
    </>
  );
}

/** The images, sounds and videos in a body, including those in tool results. Pure. */
function mediaOf(body: unknown): ShownMedia[] {
  const media: ShownMedia[] = [];
  const visit = (parts: readonly ShownPart[]) => {
    for (const part of parts) {
      if (part.kind === 'media' && part.medium !== 'file' && part.url?.startsWith('data:')) media.push(part);
      if (part.kind === 'result') visit(part.parts);
      if (part.kind === 'call' && part.result) visit(part.result.parts);
    }
  };
  // The body may be a request or an answer, so both are tried.
  for (const conversation of [readConversation(body, null), readConversation(null, body)])
    for (const message of conversation?.messages ?? []) visit(message.parts);
  return media;
}
