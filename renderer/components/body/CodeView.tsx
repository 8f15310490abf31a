import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  syntaxHighlighting,
} from '@codemirror/language';
import { openSearchPanel, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import classes from './Body.module.css';

export interface CodeViewProps {
  text: string;
  language: 'json' | 'none';
  /** Name of the content, for screen readers. */
  label: string;
  /** A counter; increasing it opens the search. */
  searches?: number;
  /** Makes the text editable. */
  onChange?: (text: string) => void;
}

/** Lines of this length or more are not wrapped, because browsers take seconds to break them into thousands of rows. */
const longestWrapped = 20_000;

/** A text with line numbers, folding and search; JSON is highlighted. Loaded on first use. */
export function CodeView({ text, language, label, searches = 0, onChange }: CodeViewProps) {
  const { phrases } = useMessages().inspector;
  const containerRef = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const change = useRef(onChange);
  change.current = onChange;
  const isEditable = onChange !== undefined;
  // While editable, `text` only echoes `onChange`, so it must not recreate the editor.
  const shownText = isEditable ? null : text;
  const firstText = useRef(text);
  useEffect(() => {
    if (!containerRef.current) return;
    const doc = shownText ?? firstText.current;
    const extensions = extensionsFor({ doc, language, label, phrases, isEditable }, (edited) =>
      change.current?.(edited),
    );
    const editor = new EditorView({ state: EditorState.create({ doc, extensions }), parent: containerRef.current });
    view.current = editor;
    return () => editor.destroy();
  }, [shownText, language, label, phrases, isEditable]);
  useEffect(() => {
    if (searches > 0 && view.current) openSearchPanel(view.current);
  }, [searches]);
  return <div ref={containerRef} className={classes.code} />;
}

interface EditorOptions extends Pick<CodeViewProps, 'language' | 'label'> {
  doc: string;
  phrases: Record<string, string>;
  isEditable: boolean;
}

function extensionsFor(options: EditorOptions, onEdit: (text: string) => void): Extension[] {
  const { doc, language, label, phrases, isEditable } = options;
  const isReadOnly = !isEditable;
  return [
    lineNumbers(),
    search({ top: true }),
    EditorState.phrases.of(phrases),
    syntaxHighlighting(colours),
    theme,
    EditorView.contentAttributes.of({
      'aria-label': label,
      tabindex: '0',
      ...(isReadOnly && { 'aria-readonly': 'true', inputmode: 'none' }),
    }),
    EditorState.readOnly.of(isReadOnly),
    hasLongLine(doc) ? [] : EditorView.lineWrapping,
    language === 'json' ? [json(), codeFolding(), foldGutter()] : [],
    isEditable
      ? [
          history(),
          bracketMatching(),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onEdit(update.state.doc.toString());
          }),
        ]
      : [],
    keymap.of([...searchKeymap, ...foldKeymap, ...(isEditable ? historyKeymap : []), ...defaultKeymap]),
  ];
}

function hasLongLine(doc: string): boolean {
  for (let start = 0; start < doc.length; ) {
    const end = doc.indexOf('\n', start);
    if ((end === -1 ? doc.length : end) - start > longestWrapped) return true;
    if (end === -1) return false;
    start = end + 1;
  }
  return false;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-name)' },
  { tag: tags.string, color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'transparent', color: 'inherit', fontSize: 'var(--mantine-font-size-xs)' },
  '&.cm-focused': { outline: '2px solid var(--meaning-accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '1.55' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--text-soft)', border: 'none' },
  '.cm-content': { caretColor: 'currentColor' },
  '.cm-cursor': { borderLeftColor: 'currentColor' },
  '.cm-panels': { backgroundColor: 'var(--surface-panel)', color: 'inherit', borderColor: 'var(--line)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--surface-hover)', border: '1px solid var(--line)', color: 'inherit' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'var(--code-selection)',
  },
  '.cm-searchMatch': { backgroundColor: 'var(--code-match)' },
});
