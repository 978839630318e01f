import { ExternalLink } from 'lucide-react'
import { useDraft } from './draft.ts'
import { filesTexts } from './edit-texts.ts'

interface EditorLinkProps {
  readonly file: string
  readonly line?: number
}

/** Opens a file of the project in VS Code. The link is followed by the browser; the server starts no program. */
export function EditorLink({ file, line = 1 }: EditorLinkProps) {
  const draft = useDraft()
  if (draft === undefined || draft.folder === null) return null // the draft of a server
  const path = encodeURI(`${draft.folder}/${file}`.replaceAll('\\', '/').replace(/^\/?/, '/'))
  return (
    <a className="editor-link" href={`vscode://file${path}:${line}`}>
      <ExternalLink size={14} aria-hidden />
      {filesTexts.open}
    </a>
  )
}
