import { useMessages } from '../../messages/use-messages.ts';
import type { Turn } from './conversation.ts';
import classes from './Playground.module.css';

/** What was said so far. */
export function ConversationView({ turns, isRunning }: { turns: readonly Turn[]; isRunning: boolean }) {
  const { playground: names } = useMessages();
  if (turns.length === 0) return <p className={classes.soft}>{names.chatEmpty}</p>;
  return (
    <ol className={classes.turns}>
      {turns.map((turn, index) => (
        <li key={turn.id} className={turn.role === 'assistant' ? classes.answer : classes.said}>
          <p className={classes.role}>{names.roles[turn.role]}</p>
          {turn.image && <img className={classes.shown} src={turn.image} alt={names.attachedImage} />}
          <p className={classes.words}>
            {turn.text || (isRunning && index === turns.length - 1 && turn.toolCalls.length === 0 ? '…' : '')}
          </p>
          {turn.toolCalls.map((call) => (
            <p key={call.id} className={classes.toolCall}>
              {names.toolCall} <code>{`${call.name}(${call.arguments})`}</code>
            </p>
          ))}
        </li>
      ))}
    </ol>
  );
}
