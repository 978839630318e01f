import { Component, type ReactNode } from 'react'
import { problemTexts } from '../components/problem-texts.ts'

interface Props {
  readonly children: ReactNode
}

/** Shows a message instead of an empty page if the app fails. */
export class ErrorBoundary extends Component<Props, { readonly error: Error | undefined }> {
  override state: { readonly error: Error | undefined } = { error: undefined }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <main className="start">
        <h1>{problemTexts.crash}</h1>
        <p role="alert">{problemTexts.crashText}</p>
        <pre translate="no" className="mono soft">
          {error.message}
        </pre>
        <p>
          <button type="button" onClick={() => location.reload()}>
            {problemTexts.reload}
          </button>
        </p>
      </main>
    )
  }
}
