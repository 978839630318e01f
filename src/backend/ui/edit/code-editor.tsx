import { Suspense } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import type { CodeEditorProps } from './code-mirror.tsx'

const CodeMirror = lazyPart(() => import('./code-mirror.tsx'), 'CodeMirror')

/** An editor for YAML and JSON. It is loaded when it is shown first. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense
      fallback={
        <pre translate="no" className="code" aria-busy="true" aria-label={props.label} role="region" tabIndex={0}>
          {props.value}
        </pre>
      }
    >
      <CodeMirror {...props} />
    </Suspense>
  )
}
