import { useLocalization } from '../../messages/use-messages.ts';
import { useNow } from '../../state/window/use-now.ts';

interface RelativeTimeProps {
  /** Unix milliseconds. */
  moment: number;
  /** The sentence around it: `used 5 min. ago`. */
  phrase?: (ago: string) => string;
}

/** How long ago something was; updates itself. The full date and time are its tooltip. */
export function RelativeTime({ moment, phrase = (ago) => ago }: RelativeTimeProps) {
  const { formats } = useLocalization();
  const text = useNow((now) => phrase(formats.ago(moment, now)));
  return (
    <time dateTime={new Date(moment).toISOString()} title={formats.fullMoment(moment)}>
      {text}
    </time>
  );
}
