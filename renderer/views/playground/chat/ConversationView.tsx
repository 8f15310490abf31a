import { IconMessage2, IconPencil, IconRefresh } from '@tabler/icons-react';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { isWordless, type Turn } from '../../../state/chat/conversation.ts';
import { AnswerFacts } from '../call/AnswerFacts.tsx';
import { FailureNote } from '../call/FailureNote.tsx';
import classes from '../Playground.module.css';

interface ConversationViewProps {
  turns: readonly Turn[];
  isRunning: boolean;
  /** Nothing can be sent now. */
  isBlocked: boolean;
  /** One of several models is still to be chosen. */
  isModelMissing: boolean;
  /** The message that is being edited. */
  editedTurn: number | null;
  onEdit(index: number): void;
  onRegenerate(index: number): void;
}

/** The conversation so far. */
export function ConversationView({ turns, isRunning, isModelMissing, editedTurn, ...rest }: ConversationViewProps) {
  const { playground: names } = useMessages();
  if (turns.length === 0) {
    return (
      <div className={classes.empty}>
        <IconMessage2 size={28} stroke={1.3} aria-hidden />
        <p className={classes.words}>{isModelMissing ? names.modelToChoose : names.chatEmpty}</p>
        {!isModelMissing && <p className={classes.words}>{names.messageHint}</p>}
      </div>
    );
  }
  return (
    <ol className={classes.turns}>
      {turns.map((turn, index) => (
        <TurnView
          key={turn.id}
          {...{ ...rest, turn, index }}
          isEdited={index === editedTurn}
          isStreaming={isRunning && index === turns.length - 1}
        />
      ))}
    </ol>
  );
}

interface TurnViewProps extends Pick<ConversationViewProps, 'isBlocked' | 'onEdit' | 'onRegenerate'> {
  turn: Turn;
  index: number;
  isEdited: boolean;
  isStreaming: boolean;
}

function TurnView({ turn, index, isEdited, isStreaming, isBlocked, onEdit, onRegenerate }: TurnViewProps) {
  const { playground: names } = useMessages();
  const isAnswer = turn.role === 'assistant';
  const author = turn.model ?? names.roles[turn.role];
  const regenerate = isBlocked ? undefined : () => onRegenerate(index);
  return (
    <li className={isAnswer ? classes.answer : classes.said} data-edited={isEdited || undefined}>
      <div className={classes.role}>
        <span className={classes.author}>{author}</span>
        {!isStreaming && (
          <span className={classes.turnActs}>
            {turn.text !== '' && <CopyButton value={turn.text} label={author} />}
            {isAnswer ? (
              <IconAction
                label={names.regenerate}
                icon={<IconRefresh size={16} />}
                isDisabled={isBlocked}
                onClick={() => onRegenerate(index)}
              />
            ) : (
              <IconAction
                label={names.edit}
                icon={<IconPencil size={16} />}
                isDisabled={isBlocked}
                onClick={() => onEdit(index)}
              />
            )}
          </span>
        )}
      </div>
      {turn.image && <img className={classes.shown} src={turn.image} alt={names.attachedImage} />}
      {isAnswer ? <AnswerText text={turn.text} /> : <p className={classes.words}>{turn.text}</p>}
      {isStreaming && isWordless(turn) && <p className={classes.soft}>…</p>}
      {turn.toolCalls.map((call) => (
        <p key={call.id} className={classes.toolCall}>
          {names.toolCall} <code>{`${call.name}(${call.arguments})`}</code>
        </p>
      ))}
      <FailureNote failure={turn.failure} requestId={turn.requestId} onRetry={regenerate} />
      {isAnswer && <AnswerFacts requestId={turn.requestId} />}
    </li>
  );
}
