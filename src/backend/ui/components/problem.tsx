import { Button } from '@mantine/core'
import { useEffect, useState } from 'react'
import { Problem } from '../api/send.ts'
import { uiPath } from '../config.ts'
import { problemTexts } from './problem-texts.ts'

/** Returns the text of an error, and what to do about it. */
export function describeProblem(error: unknown): { readonly message: string; readonly hint?: string | undefined } {
  if (error instanceof Problem && error.code === 'WP_BACKEND_CHANGED') return { message: problemTexts.changed }
  if (error instanceof Problem) return { message: error.message, hint: error.hint }
  if (isOfModule(error)) return { message: problemTexts.part }
  if (error instanceof TypeError && /fetch|network|load failed/i.test(error.message))
    return { message: problemTexts.network }
  return { message: error instanceof Error ? error.message : String(error) }
}

/** Whether code of the pages could not be loaded. Each browser has its own words. */
function isOfModule(error: unknown): boolean {
  return error instanceof Error && /import(ed|ing) (a )?module|preload CSS/i.test(error.message)
}

/** Finds out why code of the pages could not be loaded: browsers do not say it. */
async function explainModule(): Promise<string> {
  const page = await fetch(`${uiPath}/`, { cache: 'no-store' }).catch(() => undefined)
  if (page === undefined) return problemTexts.network
  if (!page.ok) return endSentence(problemTexts.proxy(page.status))
  const own = document.querySelector('script[type=module][src]')?.getAttribute('src')
  const isNewer = typeof own === 'string' && !(await page.text()).includes(own)
  return isNewer ? problemTexts.newer : problemTexts.partAgain
}

/** Adds a full stop if the text has none. */
export function endSentence(text: string): string {
  return /[.?!:]$/.test(text) ? text : `${text}.`
}

interface ProblemAlertProps {
  readonly error: unknown
  /** Repeats what failed. */
  readonly onRetry?: (() => void) | undefined
}

/** Shows why something failed, next to where it was started. */
export function ProblemAlert({ error, onRetry }: ProblemAlertProps) {
  const { message, hint: known } = describeProblem(error)
  const [reason, setReason] = useState<string>()
  useEffect(() => {
    setReason(undefined)
    if (isOfModule(error)) void explainModule().then(setReason)
  }, [error])
  const hint = reason ?? known
  return (
    <div role="alert" className="problem">
      <p dir="auto">{message}</p>
      {hint === undefined ? null : <p>{hint}</p>}
      {diagnosticsOf(error).map(({ message: text, hint: advice }) => (
        <p key={text} dir="auto">
          {advice === null ? text : `${text}. ${advice}.`}
        </p>
      ))}
      {onRetry === undefined ? null : (
        <Button variant="default" mt="xs" onClick={onRetry}>
          {problemTexts.retry}
        </Button>
      )}
    </div>
  )
}

/** The problems in the definition because of which an edit was refused. */
export function diagnosticsOf(error: unknown): readonly DefinitionProblem[] {
  const found = error instanceof Problem ? error.body['diagnostics'] : undefined
  return Array.isArray(found) ? found : []
}

interface DefinitionProblem {
  /** JSON pointer in waypost.yml; null if a file could not be parsed. */
  readonly at: string | null
  readonly message: string
  readonly hint: string | null
}

/** Shows an error instead of a page. */
export function ProblemState({ error, onRetry }: ProblemAlertProps) {
  return (
    <div className="empty">
      <h1>{problemTexts.crash}</h1>
      <ProblemAlert error={error} onRetry={onRetry ?? (() => location.reload())} />
    </div>
  )
}
