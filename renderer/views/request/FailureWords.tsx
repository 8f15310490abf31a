import { useMessages } from '../../messages/use-messages.ts';
import { failureWordsOf } from './failure-words.ts';

/** Why an attempt failed: quoted only where the provider said it. Its status stands beside. */
export function FailureWords({ error, className }: { error: string; className: string | undefined }) {
  const { inspector } = useMessages();
  const { by, words } = failureWordsOf(error);
  if (words === '') return null;
  if (by === 'provider') return <blockquote className={className}>{words}</blockquote>;
  return <p className={className}>{by === 'connection' ? inspector.connectionError(words) : words}</p>;
}
