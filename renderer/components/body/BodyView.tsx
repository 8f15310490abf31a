import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { IconDownload, IconFile, IconSearch } from '@tabler/icons-react';
import { type ComponentType, useEffect, useMemo, useState } from 'react';
import type { BodyContent } from '../../../server/contract/conversation/body-content.ts';
import type { ShownMedia } from '../../../server/contract/conversation/read-conversation.ts';
import { useLocalization } from '../../messages/use-messages.ts';
import { cutLines, formatJson } from '../../state/captured/format-json.ts';
import { CopyButton } from '../copying/CopyButton.tsx';
import { ListSkeleton } from '../feedback/ListSkeleton.tsx';
import classes from './Body.module.css';
import type { CodeViewProps } from './CodeView.tsx';

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

interface MediaBodyProps {
  content: Extract<BodyContent, { base64: string }>;
  title: string;
  bytes: number | null;
}

/** A binary body: an image or a player, or else its type and a download link. */
export function MediaBody({ content, title, bytes }: MediaBodyProps) {
  const { messages, formats } = useLocalization();
  const { asBase64 } = messages.requests;
  const url = `data:${content.mediaType};base64,${content.base64}`;
  return (
    <section className={classes.frame} aria-label={title}>
      <div className={classes.bar}>
        <h3 className={classes.barTitle}>{title}</h3>
        <span className={classes.size}>
          {content.mediaType}
          {bytes !== null && ` · ${formats.bytes(bytes)}`}
        </span>
        <div className={classes.acts}>
          <CopyButton value={content.base64} label={asBase64(title)} />
        </div>
      </div>
      <div className={classes.media}>
        {content.kind === 'media' && <Medium medium={content.medium} url={url} name={title} />}
        <a href={url} download={`body.${content.mediaType.split('/')[1] ?? 'bin'}`}>
          <IconDownload size={14} aria-hidden /> {messages.inspector.save}
        </a>
      </div>
    </section>
  );
}

/**
 * An image, or a player, for data in the body itself. Data at another address is only named, because loading it would
 * reveal to its server that someone is viewing the request.
 */
export function Medium({ medium, url, name }: Pick<ShownMedia, 'medium' | 'url' | 'name'>) {
  if (url?.startsWith('data:')) {
    if (medium === 'image') return <img src={url} alt={name} />;
    const Player = medium;
    if (Player === 'audio' || Player === 'video') {
      return (
        <Player controls src={url} aria-label={name}>
          <track kind="captions" />
        </Player>
      );
    }
  }
  return (
    <span>
      <IconFile size={14} aria-hidden /> {name}
    </span>
  );
}

let loaded: ComponentType<CodeViewProps> | null = null;

/** Loads the code view in advance. Rejects if that fails; a further call tries again. */
export async function loadCodeView(): Promise<void> {
  loaded = (await import('./CodeView.tsx')).CodeView;
}

/**
 * Renders the code view once its file is loaded. Does not use `Suspense`, which delays the content after its fallback
 * by 300 ms.
 */
export function LazyCodeView(props: CodeViewProps) {
  const [CodeView, setCodeView] = useState(() => loaded);
  useEffect(() => {
    if (CodeView) return;
    const draw = () => setCodeView(() => loaded);
    // Thrown during rendering, so that the screen's error boundary catches it.
    const fail = (problem: unknown) =>
      setCodeView(() => {
        throw problem;
      });
    loadCodeView().then(draw, fail);
  }, [CodeView]);
  return CodeView ? <CodeView {...props} /> : <ListSkeleton rows={4} rowHeight={20} />;
}
