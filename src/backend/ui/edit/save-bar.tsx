import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { LeaveDialog } from '../components/leave-dialog.tsx'
import { endSentence, ProblemAlert } from '../components/problem.tsx'
import { SignInCancelled } from '../session/session.ts'
import { ChangedBy } from './changed-by.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'
import type { Diagnostic } from './draft.ts'
import type { DraftEdit, TextEdit } from './draft-edit.ts'
import { LastSave } from './last-save.tsx'
import { isWithin } from './values.ts'
import { editingTexts as texts } from './edit-texts.ts'

interface SaveBarProps {
  readonly edit: DraftEdit | TextEdit
  /** The name of the action, on its button. */
  readonly action?: string
  onSaved?(): void
}

/** Saves an edit, also by Ctrl-S: unsaved changes, what refused them, the last save and its undo. Once on a page. */
export function SaveBar({ edit, action = texts.save, onSaved }: SaveBarProps) {
  const [isComparing, setComparing] = useState(false)
  const hasChanges = edit.changes > 0
  const save = async (withErrors = false) => {
    if (!hasChanges || edit.isSaving) return
    if (edit.isOutdated) return setComparing(true)
    if (!(await edit.save({ withErrors }))) return
    onSaved?.()
  }
  useSaveKey(() => void save())
  useEffect(() => focusField(edit.refused[0]), [edit.refused])
  const isWaiting = edit.problem instanceof SignInCancelled
  return (
    <>
      <div className="save-bar" data-active={hasChanges || undefined} role="region" aria-label={texts.bar}>
        {edit.refused.length > 0 ? <Refused diagnostics={edit.refused} /> : null}
        {edit.problem === undefined || edit.refused.length > 0 || edit.isOutdated ? null : (
          <ProblemAlert error={edit.problem} />
        )}
        {edit.isOutdated ? (
          <p className="warnings">
            <ChangedBy edit={edit} />
            {texts.outdated}
          </p>
        ) : null}
        {hasChanges ? (
          <div className="save-row">
            <p className="save-state">
              <span className="save-dot" aria-hidden /> {texts.unsaved(edit.changes)}
            </p>
            {edit.isOutdated ? (
              <Button variant="default" onClick={() => setComparing(true)}>
                {texts.compare}
              </Button>
            ) : null}
            <Button variant="default" onClick={edit.discard} disabled={edit.isSaving}>
              {texts.discard}
            </Button>
            {edit.refused.length > 0 ? (
              <Button variant="default" loading={edit.isSaving} onClick={() => void save(true)}>
                {texts.saveAnyway}
              </Button>
            ) : null}
            <Button loading={edit.isSaving} onClick={() => void save()} aria-keyshortcuts="Control+S Meta+S">
              {isWaiting ? texts.again : action}
            </Button>
          </div>
        ) : (
          <LastSave />
        )}
      </div>
      <LeaveDialog hasChanges={hasChanges} isWaiting={edit.isSaving} />
      {isComparing && edit.isOutdated ? <ConflictDialog edit={edit} onClose={() => setComparing(false)} /> : null}
    </>
  )
}

/** The errors that a change would add, with links to their fields. */
export function Refused({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) {
  return (
    <div role="alert" className="problem">
      <p>{texts.refused(diagnostics.length)}</p>
      <ul className="refused">
        {diagnostics.map((one) => (
          <li key={`${one.file}:${one.line}:${one.column} ${one.message}`}>
            <button type="button" className="link" onClick={() => focusField(one)}>
              {one.message}
            </button>
            {one.hint === null ? null : <span dir="auto"> {endSentence(one.hint)}</span>}
            <span translate="no" className="mono soft">
              {one.file}:{one.line}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Focuses the field of a problem, or the nearest one around its value. */
function focusField(problem: Diagnostic | undefined): void {
  const { at } = problem ?? {}
  if (at === undefined || at === null) return
  const fields = [...document.querySelectorAll<HTMLElement>('[data-at]')]
  const around = fields.filter((one) => isWithin(at, one.dataset['at']!) || isWithin(one.dataset['at']!, at))
  const nearest = around.toSorted((a, b) => distance(a, at) - distance(b, at))[0]
  const control = nearest?.matches('input, textarea, select, button')
    ? nearest
    : nearest?.querySelector<HTMLElement>('input, textarea, select, button')
  control?.focus()
}

function distance(field: HTMLElement, at: string): number {
  return Math.abs(field.dataset['at']!.length - at.length)
}

/** Saves with Ctrl-S, unless a dialog is open. */
export function useSaveKey(save: () => void): void {
  const current = useRef(save)
  current.current = save
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.altKey) return
      event.preventDefault()
      if (document.querySelector('[role="dialog"]') === null) current.current()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
}
