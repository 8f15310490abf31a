import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import type { Turn } from '../../../state/chat/conversation.ts';
import { AnswerFacts } from '../call/AnswerFacts.tsx';
import { FailureNote } from '../call/FailureNote.tsx';
import classes from '../Playground.module.css';

/** The conversation so far. */
export function ConversationView({ turns, isRunning }: { turns: readonly Turn[]; isRunning: boolean }) {
  const { playground: names } = useMessages();
  if (turns.length === 0) return <p className={classes.soft}>{names.chatEmpty}</p>;
  return (
    <ol className={classes.turns}>
      {turns.map((turn, index) => (
        <TurnView key={turn.id} turn={turn} isStreaming={isRunning && index === turns.length - 1} />
      ))}
    </ol>
  );
}

function TurnView({ turn, isStreaming }: { turn: Turn; isStreaming: boolean }) {
  const { playground: names } = useMessages();
  const isAnswer = turn.role === 'assistant';
  const isEmpty = turn.text === '' && turn.toolCalls.length === 0;
  return (
    <li className={isAnswer ? classes.answer : classes.said}>
      <p className={classes.role}>{turn.model ?? names.roles[turn.role]}</p>
      {turn.image && <img className={classes.shown} src={turn.image} alt={names.attachedImage} />}
      {isAnswer ? <AnswerText text={turn.text} /> : <p className={classes.words}>{turn.text}</p>}
      {isStreaming && isEmpty && <p className={classes.soft}>…</p>}
      {turn.toolCalls.map((call) => (
        <p key={call.id} className={classes.toolCall}>
          {names.toolCall} <code>{`${call.name}(${call.arguments})`}</code>
        </p>
      ))}
      <FailureNote failure={turn.failure} />
      {isAnswer && <AnswerFacts requestId={turn.requestId} />}
    </li>
  );
}
