import { useEffect, useRef, useState } from 'react'
import type { TablePlace } from './row-values.ts'
import { importTexts as texts } from './row-texts.ts'
import { importFile, type ImportLine, type ImportProblem, type ImportRequest } from './transfer.ts'

/** How far an import is, or how it ended. */
export type ImportState =
  | { readonly step: 'none' }
  | { readonly step: 'running'; readonly text: string; readonly percent: number }
  | { readonly step: 'done'; readonly rows: number }
  | { readonly step: 'failed'; readonly error: unknown; readonly problems: readonly ImportProblem[] }

/** Runs an import, and ends it when the dialog is closed: then nothing is imported. */
export function useImport(place: TablePlace, onImported: () => void) {
  const [state, setState] = useState<ImportState>({ step: 'none' })
  const controller = useRef<AbortController>(undefined)
  useEffect(() => () => controller.current?.abort(), [])
  const start = async (request: ImportRequest) => {
    const own = new AbortController()
    controller.current = own
    const problems: ImportProblem[] = []
    let end: ImportState | undefined
    const onLine = (line: ImportLine) => {
      if (line.kind === 'problem') problems.push(line)
      else if (line.kind === 'progress') setState(describeProgress(line))
      else if (line.kind === 'done') end = { step: 'done', rows: line.rows }
      else end = failed(line.message === null ? undefined : new Error(line.message), problems)
    }
    setState({ step: 'running', text: texts.sending, percent: 0 })
    try {
      await importFile(place, request, { signal: own.signal, onLine })
      setState(end ?? failed(new Error(texts.nothing), problems))
    } catch (error) {
      if (!own.signal.aborted) setState(failed(error, problems))
    }
    if (end?.step === 'done') onImported()
  }
  return { state, start }
}

function failed(error: unknown, problems: readonly ImportProblem[]): ImportState {
  return { step: 'failed', error, problems }
}

/** Checking is quick, so it is the first tenth. */
function describeProgress({ step, rows, of }: Extract<ImportLine, { readonly kind: 'progress' }>): ImportState {
  if (step === 'check' || of === null) return { step: 'running', text: texts.checking(rows), percent: 10 }
  return { step: 'running', text: texts.importing(rows, of), percent: 10 + (90 * rows) / Math.max(of, 1) }
}
