import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { BodyContent } from '../../../server/contract/conversation/body-content.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { cutLines, formatJson } from '../../state/captured/format-json.ts';
import { CopyButton } from '../copying/CopyButton.tsx';
import classes from './Body.module.css';
import { LazyCodeView } from './LazyCodeView.tsx';
import { MediaBody } from './MediaBody.tsx';

interface BodyViewProps {
  content: BodyContent;
  title: string;
  /** Size of the whole body, even if only its start was kept; null if unknown. */
  bytes: number | null;
}

/** A captured body: formatted JSON, assembled streams, images and audio. Each can also be shown unprocessed. */
export function BodyView({ content, title, bytes }: BodyViewProps) {
  if (content.kind === 'media' || content.kind === 'binary')
    return <MediaBody content={content} title={title} bytes={bytes} />;
  return <TextBody content={content} title={title} bytes={bytes} />;
}

type TextContent = Extract<BodyContent, { text: string }>;
type Mode = 'read' | 'raw';

/** Longer strings and lines are cut until the person asks for all of them. */
const longestString = 5_000;
/** Up to this many lines, the view is as tall as its text. */
const shortLines = 20;

function TextBody({ content, title, bytes }: BodyViewProps & { content: TextContent }) {
  const { messages, formats } = useLocalization();
  const names = messages.inspector;
  const [mode, setMode] = useState<Mode>('read');
  const [showsAll, setShowsAll] = useState(false);
  const [searches, setSearches] = useState(0);
  const source = useMemo(() => sourceOf(content, mode), [content, mode]);
  const shown = useMemo(() => {
    const options = {
      longestString: showsAll ? Number.POSITIVE_INFINITY : longestString,
      describeRest: (units: number) => names.moreCharacters(formats.number(units)),
    };
    return source.isJson ? formatJson(source.text, options) : cutLines(source.text, options);
  }, [source, showsAll, names, formats]);
  const hasModes = content.kind === 'json' || (content.kind === 'stream' && content.assembled !== null);
  const modeNames = content.kind === 'stream' ? names.streamModes : names.jsonModes;
  const isShort = shown.text.length < 20_000 && shown.text.split('\n').length <= shortLines;
  return (
    <section className={`${classes.frame} ${isShort ? classes.short : ''}`} aria-label={title}>
      <div className={classes.bar}>
        <h3 className={classes.barTitle}>{title}</h3>
        {bytes !== null && <span className={classes.size}>{formats.bytes(bytes)}</span>}
        {hasModes && (
          <SegmentedControl
            size="xs"
            aria-label={names.bodyAs}
            value={mode}
            onChange={(value) => setMode(value === 'raw' ? 'raw' : 'read')}
            data={[
              { value: 'read', label: modeNames.read },
              { value: 'raw', label: modeNames.raw },
            ]}
          />
        )}
        <div className={classes.acts}>
          {shown.cutStrings > 0 && (
            <Button variant="subtle" size="compact-sm" onClick={() => setShowsAll(true)}>
              {names.showAll}
            </Button>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={names.searchIn(title)}
            title={names.searchIn(title)}
            onClick={() => setSearches((count) => count + 1)}
          >
            <IconSearch size={16} aria-hidden />
          </ActionIcon>
          <CopyButton value={source.text} label={title} />
        </div>
      </div>
      {content.kind === 'stream' && content.assembled?.isComplete === false && (
        <p className={classes.note}>{names.streamIncomplete}</p>
      )}
      <LazyCodeView text={shown.text} language={source.isJson ? 'json' : 'none'} label={title} searches={searches} />
    </section>
  );
}

function sourceOf(content: TextContent, mode: Mode): { text: string; isJson: boolean } {
  if (mode === 'raw' || content.kind === 'text') return { text: content.text, isJson: false };
  if (content.kind === 'json') return { text: content.text, isJson: true };
  if (content.assembled === null) return { text: content.text, isJson: false };
  return { text: JSON.stringify(content.assembled.answer, null, 2), isJson: true };
}
