import { Fragment, type ReactNode } from 'react'
import { parseMarkdown, type Block, type Cell } from './parse-blocks.ts'
import { parseInline, type Inline } from './parse-inline.ts'

interface MarkdownProps {
  readonly text: string
  /** The level of its highest headings. Without it, they are bold text, as in the description of a property. */
  readonly level?: number
  readonly className?: string
}

/** A description with Markdown. HTML stays text, and links lead to the web, mailboxes and pages of this server only. */
export function Markdown({ text, level, className = '' }: MarkdownProps) {
  if (text.trim() === '') return null
  return (
    <div className={`prose ${className}`} dir="auto">
      {renderBlocks(parseMarkdown(text), level)}
    </div>
  )
}

/** A description of one line, such as that of a status. */
export function InlineMarkdown({ text }: { readonly text: string }) {
  return <bdi>{renderInline(parseInline(text))}</bdi>
}

/** No level of headings is left out, whatever the author wrote: screen readers navigate by them. */
function renderBlocks(blocks: readonly Block[], level: number | undefined): ReactNode {
  const around: number[] = []
  return blocks.map((block, index) => {
    if (block.kind !== 'heading') return <Fragment key={index}>{renderBlock(block)}</Fragment>
    while (around.length > 0 && around.at(-1)! >= block.level) around.pop()
    around.push(block.level)
    const Heading = (level === undefined ? 'p' : `h${Math.min(6, level + around.length - 1)}`) as 'p' | 'h2'
    return (
      <Heading key={index} className="prose-heading">
        {renderInline(block.inside)}
      </Heading>
    )
  })
}

function renderBlock(block: Exclude<Block, { readonly kind: 'heading' }>): ReactNode {
  switch (block.kind) {
    case 'paragraph':
      return <p>{renderInline(block.inside)}</p>
    case 'code':
      return (
        <pre translate="no" className="code wrap" dir="ltr">
          {block.text}
        </pre>
      )
    case 'quote':
      return <blockquote>{renderBlocks(block.blocks, undefined)}</blockquote>
    case 'list':
      return renderList(block)
    case 'table':
      return renderTable(block)
    default:
      return <hr />
  }
}

function renderList({ start, items }: Extract<Block, { readonly kind: 'list' }>): ReactNode {
  const rendered = items.map((blocks, index) => {
    const [first, ...others] = blocks
    return (
      <li key={index}>
        {first?.kind === 'paragraph' ? renderInline(first.inside) : first && renderBlocks([first], undefined)}
        {renderBlocks(others, undefined)}
      </li>
    )
  })
  return start === undefined ? <ul>{rendered}</ul> : <ol start={start}>{rendered}</ol>
}

function renderTable({ head, rows }: Extract<Block, { readonly kind: 'table' }>): ReactNode {
  const alignOf = ({ align }: Cell) => (align === undefined ? {} : { className: `align-${align}` })
  return (
    <div className="prose-table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col" {...alignOf(cell)}>
                {renderInline(cell.inside)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column} {...alignOf(cell)}>
                  {renderInline(cell.inside)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function renderInline(all: readonly Inline[]): ReactNode {
  return all.map((one, index) => {
    if (typeof one === 'string') return one
    if (one.kind === 'break') return <br key={index} />
    if (one.kind === 'code')
      return (
        <code translate="no" key={index}>
          {one.text}
        </code>
      )
    const inside = renderInline(one.inside)
    if (one.kind === 'link')
      return (
        <a key={index} href={one.href} rel="noreferrer">
          {inside}
        </a>
      )
    const Mark = one.kind
    return <Mark key={index}>{inside}</Mark>
  })
}
