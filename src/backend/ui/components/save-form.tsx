import { Button, Group } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { use, useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { Problem, type FieldProblem } from '../api/send.ts'
import { SignInCancelled } from '../session/session.ts'
import { DialogContext } from './dialog.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { diagnosticsOf, ProblemAlert } from './problem.tsx'
import { confirmTexts } from './dialog-texts.ts'
import { problemTexts } from './problem-texts.ts'

export interface SaveFormProps {
  /** The name of the action, on its button: "Create user". */
  readonly action: string
  /** Whether there are unsaved changes: they enable saving, and leaving the page asks first. A form in a dialog detects this itself. */
  readonly hasChanges?: boolean
  /** Whether input that saving needs is still missing. */
  readonly isIncomplete?: boolean
  /** The field that causes a problem, by the code of the problem, where the server does not name the field. */
  readonly fields?: Readonly<Record<string, string>>
  /** Sends the form. If it fails, everything that was typed stays. */
  onSave(): Promise<unknown>
  onSaved?(): void
  onCancel?(): void
  /** The fields. Their `name` is the JSON pointer without the first slash; `errorOf` returns their problem. */
  children(errorOf: (name: string) => string | undefined): ReactNode
}

/** A form that saves explicitly, also by Ctrl-S. A problem of the server is shown at its field, which gets the focus. */
export function SaveForm(props: SaveFormProps) {
  const { action, hasChanges, isIncomplete = false, fields: fieldNames, onSave, onSaved, onCancel, children } = props
  const canSave = hasChanges !== false && !isIncomplete
  const form = useRef<HTMLFormElement>(null)
  const isSaving = useRef(false)
  const empty = useRef<ReadonlySet<string>>(new Set())
  const save = async () => {
    isSaving.current = true
    empty.current = listEmpty(form.current)
    try {
      return await onSave()
    } finally {
      isSaving.current = false
    }
  }
  const saving = useMutation({ mutationFn: save, ...(onSaved === undefined ? {} : { onSuccess: onSaved }) })
  const { error } = saving
  const dialog = use(DialogContext)
  const [isTyped, setTyped] = useState(false)
  const wouldLose = (hasChanges === true || (dialog !== undefined && isTyped)) && !saving.isPending
  useEffect(() => dialog?.setChanges(wouldLose), [dialog, wouldLose])
  useEffect(() => () => dialog?.setChanges(false), [dialog])
  const listed = error instanceof Problem ? listProblems(error, fieldNames) : []
  // Where the schema of the request refuses an empty text, the server only says that it is too short.
  const isEmpty = ({ pointer, isOfSchema }: FieldProblem) => isOfSchema === true && empty.current.has(pointer)
  const fields = listed.map((one) => (isEmpty(one) ? { ...one, message: problemTexts.empty } : one))
  const known = fields.filter(({ pointer }) => findField(form.current, pointer) !== undefined)
  useEffect(() => (error === null ? undefined : showProblem(form.current, fields)), [error])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.current?.requestSubmit()
  }
  return (
    <form
      ref={form}
      noValidate
      className="stack"
      onKeyDown={onKeyDown}
      onInput={() => setTyped(true)}
      onSubmit={(event) => {
        event.preventDefault()
        if (canSave && !saving.isPending) saving.mutate()
      }}
    >
      {children((name) => fields.find(({ pointer }) => pointer === `/${name}`)?.message)}
      {error === null || (known.length > 0 && known.length === fields.length) ? null : <ProblemAlert error={error} />}
      <Group justify="flex-end" gap="xs" className="form-actions">
        {onCancel === undefined ? null : (
          <Button variant="default" onClick={dialog?.close ?? onCancel}>
            {confirmTexts.cancel}
          </Button>
        )}
        <Button type="submit" loading={saving.isPending} disabled={!canSave}>
          {error instanceof SignInCancelled ? problemTexts.retry : action}
        </Button>
      </Group>
      <LeaveDialog hasChanges={wouldLose} isSaving={isSaving} />
    </form>
  )
}

function listProblems(error: Problem, names: SaveFormProps['fields'] = {}): readonly FieldProblem[] {
  const name = names[error.code]
  if (error.fields.length > 0) return error.fields
  if (name === undefined)
    return diagnosticsOf(error).map((one) => ({ pointer: lastStep(one.at), message: one.message }))
  return [{ pointer: `/${name}`, message: [error.message, error.hint].filter(Boolean).join('. ') }]
}

/** The place of a problem in the definition, in a form of one entry. */
function lastStep(at: string | null): string {
  return at === null ? '' : at.slice(at.lastIndexOf('/'))
}

function findField(form: HTMLFormElement | null, pointer: string): HTMLElement | undefined {
  const field = form?.elements.namedItem(pointer.slice(1))
  return field instanceof HTMLElement ? field : undefined
}

/** The pointers of fields without a value. */
function listEmpty(form: HTMLFormElement | null): ReadonlySet<string> {
  const all = [...(form?.elements ?? [])] as readonly { readonly name?: string; readonly value?: string }[]
  return new Set(all.filter(({ name = '', value }) => name !== '' && value === '').map(({ name }) => `/${name}`))
}

/** Focuses the first field with a problem. Without one, scrolls to the problem, which the buttons may cover. */
function showProblem(form: HTMLFormElement | null, fields: readonly FieldProblem[]): void {
  const [first] = fields.flatMap(({ pointer }) => findField(form, pointer) ?? [])
  if (first === undefined) form?.querySelector(':scope > .problem')?.scrollIntoView({ block: 'nearest' })
  else first.focus()
}
