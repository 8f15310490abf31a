/**
 * Tries each capability through the gateway, as a client with a key would. Uses only the public API, nothing internal
 * to the engine.
 */
import { type ComponentType, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { EmptyNote } from '../../components/EmptyNote.tsx';
import { Screen } from '../../components/Screen.tsx';
import type { Messages } from '../../messages/en.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { type KeyChoice, useKeyChoice } from '../../state/use-key-choice.ts';
import { ChatBench } from './ChatBench.tsx';
import { CompletionsBench } from './CompletionsBench.tsx';
import { EmbeddingsBench } from './EmbeddingsBench.tsx';
import { ImagesBench } from './ImagesBench.tsx';
import { ModerationsBench } from './ModerationsBench.tsx';
import classes from './Playground.module.css';
import { ResponsesBench } from './ResponsesBench.tsx';
import { SpeechBench } from './SpeechBench.tsx';
import { TranscriptionBench } from './TranscriptionBench.tsx';
import { useSentRequest } from './use-sent-request.ts';
import { VideoBench } from './VideoBench.tsx';

type BenchName = keyof Messages['playground']['benches'];

const benches: readonly { name: BenchName; Component: ComponentType<{ keyChoice: KeyChoice }> }[] = [
  { name: 'chat', Component: ChatBench },
  { name: 'responses', Component: ResponsesBench },
  { name: 'completions', Component: CompletionsBench },
  { name: 'embeddings', Component: EmbeddingsBench },
  { name: 'moderations', Component: ModerationsBench },
  { name: 'images', Component: ImagesBench },
  { name: 'speech', Component: SpeechBench },
  { name: 'transcription', Component: TranscriptionBench },
  { name: 'videos', Component: VideoBench },
];

export function Playground() {
  const { playground: names } = useMessages();
  const keyChoice = useKeyChoice();
  const [path] = useLocation();
  const sent = useSentRequest();
  const bench = benches.find(({ name }) => name === path.split('/')[2]) ?? benches[0];
  const currentTab = useRef<HTMLAnchorElement>(null);
  const benchName = bench?.name;
  // In a narrow window the tabs scroll sideways.
  useEffect(() => {
    if (benchName) currentTab.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [benchName]);
  return (
    <Screen name="playground">
      <nav className={classes.tabs} aria-label={names.capabilities}>
        {benches.map(({ name }) => (
          <Link
            key={name}
            ref={name === benchName ? currentTab : undefined}
            className={classes.tab}
            href={`/playground/${name}`}
            aria-current={name === benchName ? 'true' : undefined}
          >
            {names.benches[name]}
          </Link>
        ))}
      </nav>
      {keyChoice.isNone && (
        <EmptyNote title={names.noKeyTitle} next={names.noKeyNext}>
          <Link href="/keys">{names.toKeys}</Link>
        </EmptyNote>
      )}
      {sent && (
        <p className={classes.soft} role="status">
          {sent.state === 'opened' ? names.fromRequest(sent.id, sent.api) : names.fromNothing[sent.state]}
          {sent.state === 'opened' && sent.leftOut.length > 0 && ` ${names.leftOut(sent.leftOut.join(', '))}`}
        </p>
      )}
      {bench && <bench.Component key={bench.name} keyChoice={keyChoice} />}
    </Screen>
  );
}
