import { Link } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'
import { describeEntry } from '../publish/describe-entry.ts'
import { useDraft, type Diagnostic } from './draft.ts'
import { filesTexts } from './edit-texts.ts'

/** In the top bar of every page: how many errors the draft has, with a link to the first one. */
export function DraftErrors() {
  const draft = useDraft()
  const errors = draft?.diagnostics.filter(({ severity }) => severity === 'error') ?? []
  const [first] = errors
  if (first === undefined) return null
  const label = filesTexts.errors(errors.length)
  const place = `${first.file}:${first.line}`
  return (
    <Link
      {...linkOf(first)}
      className="draft-errors"
      aria-label={filesTexts.showError(label, place)}
      title={first.message}
    >
      <CircleAlert size={14} aria-hidden />
      <span className="changed-files-label">{label}</span>
      <span className="changed-files-count" aria-hidden>
        {errors.length}
      </span>
    </Link>
  )
}

/** The page of the entry that has a problem, or its file. */
function linkOf({ at, file }: Diagnostic) {
  const { link } = at === null ? {} : describeEntry({ name: at, at, file, status: 'changed' })
  return link ?? { to: '/files/$file', params: { file } }
}
