import type { ReactNode } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { useMessages } from '../../messages/use-messages.ts';
import { CopyButton } from '../copying/CopyButton.tsx';
import classes from './MarkdownText.module.css';
import { type MarkedPiece, markPieces } from './mark-pieces.ts';

export interface MarkdownTextProps {
  text: string;
  /** The same text, with what is to be marked. */
  pieces?: readonly MarkedPiece[] | undefined;
}

/**
 * Renders the Markdown of an answer. HTML in it is not interpreted and images are not fetched, because an answer must
 * not make the window contact an address.
 */
export default function MarkdownText({ text, pieces }: MarkdownTextProps) {
  return (
    <div className={classes.markdown}>
      <Markdown remarkPlugins={[remarkGfm]} rehypePlugins={pieces && [[markPieces, pieces]]} components={components}>
        {text}
      </Markdown>
    </div>
  );
}

interface Node {
  value?: string;
  children?: readonly Node[];
}

function textOf({ value = '', children = [] }: Node): string {
  return value + children.map(textOf).join('');
}

/** A block of code with its copy button. */
function CodeBlock({ text, children }: { text: string; children: ReactNode }) {
  const { code } = useMessages();
  return (
    <div className={classes.block}>
      <pre>{children}</pre>
      <CopyButton value={text.replace(/\n$/, '')} label={code} />
    </div>
  );
}

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer nofollow">
      {alt || String(src ?? '')}
    </a>
  ),
  pre: ({ node, children }) => <CodeBlock text={node ? textOf(node) : ''}>{children}</CodeBlock>,
  // A wide table scrolls by itself instead of making the page scroll.
  table: ({ children }) => (
    <div className={classes.wide}>
      <table>{children}</table>
    </div>
  ),
};
