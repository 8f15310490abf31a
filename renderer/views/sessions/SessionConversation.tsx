import { useEffect, useState } from 'react';
import type { SessionRequest } from '../../../server/contract/session-views.ts';
import { ConversationView } from '../../components/conversation/ConversationView.tsx';
import { CommandProblem } from '../../components/feedback/CommandProblem.tsx';
import { EmptyNote } from '../../components/feedback/EmptyNote.tsx';
import { ListSkeleton } from '../../components/feedback/ListSkeleton.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import { asControlError, type ControlError } from '../../state/api/api.ts';
import { useControlStore } from '../../state/control/use-control.ts';
import { loadConversation, type WholeConversation } from './load-conversation.ts';
import classes from './Sessions.module.css';

interface Loaded {
  /** Undefined until it is there. */
  whole?: WholeConversation | null;
  problem?: ControlError;
}

/** All that was said in a session, as one conversation. */
export function SessionConversation({ requests }: { requests: readonly SessionRequest[] }) {
  // Loaded anew when another of its requests has ended.
  const newest = requests.findLast(({ thread, outcome }) => thread === 0 && outcome !== null)?.id;
  return <Conversation key={newest} requests={requests} />;
}

function Conversation({ requests }: { requests: readonly SessionRequest[] }) {
  const { sessions: names } = useMessages();
  const store = useControlStore();
  const [first] = useState(requests);
  const [{ whole, problem }, setLoaded] = useState<Loaded>({});
  useEffect(() => {
    let isNewest = true;
    const settle = (loaded: Loaded) => isNewest && setLoaded(loaded);
    loadConversation(first, (id) => store.query<'request'>({ type: 'request', id })).then(
      (found) => settle({ whole: found }),
      (error: unknown) => settle({ problem: asControlError(error) }),
    );
    return () => {
      isNewest = false;
    };
  }, [store, first]);
  if (problem) return <CommandProblem problem={problem} />;
  if (whole === undefined) return <ListSkeleton rows={4} rowHeight={80} />;
  if (whole === null) return <EmptyNote title={names.notKeptTitle} next={names.notKeptNext} />;
  return (
    <>
      {!whole.isWhole && <p className={classes.hint}>{names.notWhole}</p>}
      <ConversationView conversation={whole.conversation} />
    </>
  );
}
