import { useMemo } from 'react';
import { contentOf, jsonValueOf } from '../../../../server/contract/conversation/body-content.ts';
import { readConversation } from '../../../../server/contract/conversation/read-conversation.ts';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import { Medium } from '../../../components/body/BodyView.tsx';
import { ConversationView } from '../../../components/conversation/ConversationView.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import classes from '../detail/RequestPanel.module.css';

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
