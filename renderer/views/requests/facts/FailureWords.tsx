import { useMessages } from '../../../messages/use-messages.ts';
import { failureWordsOf } from '../../../state/requests/failures.ts';

/** Why an attempt failed; a quotation only if the provider said it. The status is shown beside it. */
export function FailureWords({ error, className }: { error: string; className: string | undefined }) {
  const { inspector } = useMessages();
  const { by, words } = failureWordsOf(error);
  if (words === '') return null;
  if (by === 'provider') return <blockquote className={className}>{words}</blockquote>;
  return <p className={className}>{by === 'connection' ? inspector.connectionError(words) : words}</p>;
}
