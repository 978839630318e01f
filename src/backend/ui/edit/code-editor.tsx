import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import type { CompletionNames } from './complete-yaml.ts'
import type { Diagnostic } from './draft.ts'
import type { Json } from './values.ts'

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

const CodeMirror = lazyPart(() => import('./code-mirror.tsx'), 'CodeMirror')

/** An editor for YAML and JSON. It is loaded when it is shown first. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense
      fallback={
        <pre className="code" aria-busy="true" aria-label={props.label} role="region" tabIndex={0}>
          {props.value}
        </pre>
      }
    >
      <CodeMirror {...props} />
    </Suspense>
  )
}
