import { Link } from 'wouter';
import { useLocalization } from '../../../messages/use-messages.ts';
import { useQuery } from '../../../state/control/use-query.ts';

/** The session that a request belongs to, with its cost so far. */
export function SessionLink({ id }: { id: string }) {
  const { messages, formats } = useLocalization();
  const { answer } = useQuery<'session'>({ type: 'session', id });
  const { ofRequest } = messages.sessions;
  const session = answer?.session;
  const cost = session && session.costUsd !== null ? formats.dollars(session.costUsd) : null;
  return <Link href={`/sessions/${id}`}>{session ? ofRequest(formats.number(session.requests), cost) : id}</Link>;
}
