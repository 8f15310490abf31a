import { useMemo } from 'react';
import type { RequestInFull } from '../../../server/contract/request-views.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { contentOf, jsonValueOf } from './body/body-content.ts';
import { Medium } from './body/Medium.tsx';
import { ConversationView } from './conversation/ConversationView.tsx';
import { readConversation } from './conversation/read-conversation.ts';
import classes from './RequestPanel.module.css';

/** The conversation, independent of the API it was held in. Answers in audio or images are shown as such. */
export function ConversationTab({ capture }: { capture: NonNullable<RequestInFull['capture']> }) {
  const { inspector: names } = useMessages();
  const { request, response } = capture;
  const asked = useMemo(() => contentOf(request), [request]);
  const answered = useMemo(() => contentOf(response), [response]);
  const conversation = useMemo(() => readConversation(jsonValueOf(asked), jsonValueOf(answered)), [asked, answered]);
  const isCut = request.gap === 'too-long' || response.gap === 'too-long';
  return (
    <>
      {isCut && <p className={classes.note}>{names.conversationCut}</p>}
      {conversation && <ConversationView conversation={conversation} />}
      {answered?.kind === 'stream' && answered.assembled?.isComplete === false && (
        <p className={classes.note}>{names.streamIncomplete}</p>
      )}
      {answered?.kind === 'media' && (
        <div className={classes.media}>
          <Medium
            medium={answered.medium}
            url={`data:${answered.mediaType};base64,${answered.base64}`}
            name={names.answer}
          />
        </div>
      )}
      {!conversation && answered?.kind !== 'media' && <p className={classes.note}>{names.noConversation}</p>}
    </>
  );
}
