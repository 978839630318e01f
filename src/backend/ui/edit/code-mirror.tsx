import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentService,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState, RangeSetBuilder, type Text } from '@codemirror/state'
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import { nonce } from '../config.ts'
import { completeYaml, type CompletionNames } from './complete-yaml.ts'
import type { Diagnostic } from './draft.ts'
import type { Json } from './values.ts'

const codeTexts = {
  leave: 'Esc, then Tab, leaves the editor. Ctrl-Space completes.',
} as const

export interface CodeEditorProps {
  readonly value: string
  /** Without it, the text is read-only. */
  readonly onChange?: ((text: string) => void) | undefined
  readonly language: 'yaml' | 'json'
  /** What the text is, for screen readers. */
  readonly label: string
  /** Problems to show in the gutter and below the text that they are about. */
  readonly diagnostics?: readonly Pick<
    Diagnostic,
    'severity' | 'message' | 'hint' | 'line' | 'column' | 'end_line' | 'end_column'
  >[]
  /** What keys and values are offered while typing. */
  readonly completion?: {
    /** The JSON Schema of the whole definition. */
    readonly schema: Json
    /** The keys of waypost.yml that the text is below. */
    readonly keys: readonly string[]
    readonly names?: CompletionNames
    /** The schemas of configs, by the name of their class. */
    readonly classes?: Readonly<Record<string, Json>>
  }
  /** Lines to mark, from 1; the text opens at the first. */
  readonly marked?: { readonly from: number; readonly to: number } | undefined
  /** The JSON pointer whose problems move the focus here. */
  readonly at?: string
}

const look = EditorView.theme({
  '&': { fontSize: '12px', backgroundColor: 'transparent', color: 'inherit' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mantine-font-family-monospace)', lineHeight: '20px' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--mantine-color-text)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--soft)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--line-active)' },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--selection)',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--mantine-shadow-md)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px', lineHeight: '20px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-back)',
    color: 'var(--mantine-color-text)',
  },
  '.cm-completionInfo': { padding: '8px', maxWidth: '320px', fontFamily: 'var(--mantine-font-family)' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-completionDetail': { fontStyle: 'normal', color: 'var(--soft)' },
  '.cm-diagnostic': { fontFamily: 'var(--mantine-font-family)', padding: '4px 8px' },
  // The images of CodeMirror are data: URLs, which the policy forbids.
  '.cm-lintRange-error, .cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-lint-marker-error, .cm-lint-marker-warning': {
    content: 'normal',
    width: '8px',
    height: '8px',
    margin: '6px 3px',
    borderRadius: '50%',
    backgroundColor: 'var(--bad)',
  },
  '.cm-lint-marker-warning': { backgroundColor: 'var(--warn)' },
  '.cm-marked': { boxShadow: 'inset 2px 0 var(--accent)' },
})

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.labelName, tags.meta], color: 'var(--bad)' },
])

export function CodeMirror(props: CodeEditorProps) {
  const { value, language, label, diagnostics = [], marked, at } = props
  const place = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(undefined)
  const current = useRef(props)
  current.current = props
  const isReadOnly = props.onChange === undefined
  const access = useRef(new Compartment())
  useEffect(() => {
    const editor = new EditorView({
      parent: place.current!,
      state: EditorState.create({ doc: value, extensions: makeExtensions(current, access.current) }),
    })
    view.current = editor
    return () => editor.destroy()
  }, [language, label])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    view.current?.dispatch({ effects: access.current.reconfigure(readOnly(isReadOnly)) })
  }, [isReadOnly])
  useEffect(() => {
    const editor = view.current
    if (editor === undefined) return
    const { doc } = editor.state
    const found = diagnostics.map(
      ({ line, column, end_line: endLine, end_column: endColumn, severity, message, hint }) => {
        const from = positionOf(doc, line, column)
        return {
          from,
          to: Math.max(from, positionOf(doc, endLine, endColumn)),
          severity,
          message: hint ? `${message}. ${hint}.` : message,
        }
      },
    )
    editor.dispatch(setDiagnostics(editor.state, found))
  }, [JSON.stringify(diagnostics), value === ''])
  const [first] = diagnostics
  const start = first?.line ?? marked?.from
  useEffect(() => {
    const editor = view.current
    if (editor === undefined || start === undefined || start > editor.state.doc.lines) return
    if (editor.hasFocus) return // the text must not move while it is typed
    const { from } = editor.state.doc.line(start)
    // The cursor is at the problem when the editor gets the focus.
    const isAway = first !== undefined && !editor.hasFocus
    const selection = isAway ? { selection: { anchor: positionOf(editor.state.doc, start, first.column) } } : {}
    editor.dispatch({ ...selection, effects: EditorView.scrollIntoView(from, { y: 'start', yMargin: 40 }) })
  }, [start, value === ''])
  return (
    <div className="code-editor" data-at={at}>
      <div ref={place} />
      {isReadOnly ? null : <p className="code-editor-hint">{codeTexts.leave}</p>}
    </div>
  )
}

function readOnly(isReadOnly: boolean) {
  return [EditorState.readOnly.of(isReadOnly), EditorView.editable.of(!isReadOnly)]
}

function makeExtensions(current: { readonly current: CodeEditorProps }, access: Compartment) {
  const { language, label, onChange } = current.current
  return [
    EditorView.cspNonce.of(nonce),
    lineNumbers(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of('  '),
    EditorState.tabSize.of(2),
    bracketMatching(),
    EditorView.lineWrapping,
    closeBrackets(),
    language === 'yaml' ? [yaml(), indentYaml] : json(),
    syntaxHighlighting(colours),
    look,
    autocompletion({
      icons: false,
      override: [
        (context) => {
          const { completion } = current.current
          return completion === undefined ? null : completeYaml(context, completion)
        },
      ],
    }),
    keymap.of([
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
    EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
    EditorView.decorations.of((editor) => mark(editor.state.doc, current.current.marked)),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && update.state.doc.toString() !== current.current.value)
        current.current.onChange?.(update.state.doc.toString())
    }),
    access.of(readOnly(onChange === undefined)),
  ]
}

/** A line begins below the one before it, or two columns further after a key without a value. */
const indentYaml = indentService.of((context, position) => {
  const { text } = context.lineAt(position, -1)
  return text.search(/\S|$/) + (/:\s*(#.*)?$/.test(text) ? 2 : 0)
})

/** @param line and column count from 1 */
function positionOf(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(from + Math.max(column - 1, 0), to)
}

function mark(doc: Text, marked: CodeEditorProps['marked']) {
  const builder = new RangeSetBuilder<Decoration>()
  if (marked !== undefined) {
    for (let line = marked.from; line <= Math.min(marked.to, doc.lines); line += 1) {
      const { from } = doc.line(line)
      builder.add(from, from, Decoration.line({ class: 'cm-marked' }))
    }
  }
  return builder.finish()
}
