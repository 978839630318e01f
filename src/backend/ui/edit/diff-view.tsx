import { structuredPatch } from 'diff'
import { editingTexts } from './edit-texts.ts'

const diffTexts = {
  added: 'added',
  removed: 'removed',
} as const

/** As in `git diff`: an empty range begins at the line before, and a range of one line has no length. */
function writeRange(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${lines === 0 ? start - 1 : start},${lines}`
}

interface DiffViewProps {
  readonly before: string
  readonly after: string
  /** What is compared, for screen readers: the name of the file. */
  readonly label: string
}

const signs = { '+': 'added', '-': 'removed', ' ': 'same' } as const

/** The differences of two texts as `git diff` shows them: hunks with three lines around each change. */
export function DiffView({ before, after, label }: DiffViewProps) {
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 3 })
  return (
    <div className="diff" tabIndex={0} role="region" aria-label={editingTexts.diffOf(label)}>
      <table className="diff-table">
        <tbody>
          {hunks.map((hunk) => (
            <Hunk key={hunk.oldStart} {...hunk} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Hunk({ oldStart, oldLines, newStart, newLines, lines }: ReturnType<typeof structuredPatch>['hunks'][number]) {
  let [left, right] = [oldStart, newStart]
  return (
    <>
      <tr className="diff-hunk">
        <td colSpan={4}>
          @@ -{writeRange(oldStart, oldLines)} +{writeRange(newStart, newLines)} @@
        </td>
      </tr>
      {lines.map((line, index) => {
        const sign = line[0] ?? ' '
        const kind = signs[sign as keyof typeof signs]
        if (kind === undefined)
          return (
            <tr key={index} className="diff-note">
              <td colSpan={4}>{line}</td>
            </tr>
          )
        return (
          <tr key={index} className={`diff-${kind}`}>
            <td className="diff-number">{kind === 'added' ? '' : left++}</td>
            <td className="diff-number">{kind === 'removed' ? '' : right++}</td>
            <td className="diff-sign">
              <span aria-hidden>{sign}</span>
              {kind === 'same' ? null : <span className="hidden">{diffTexts[kind]}</span>}
            </td>
            <td className="diff-line">
              <code translate="no">{line.slice(1)}</code>
            </td>
          </tr>
        )
      })}
    </>
  )
}
