import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { State } from '../components/badge.tsx'
import { boxWidth, layOut, type Box, type Table } from './lay-out.ts'

const texts = {
  label: 'Diagram',
  added: 'new',
  more: (count: number) => `${count} more`,
  refersTo: (table: string) => `refers to ${table}`,
  key: 'key',
} as const

interface DiagramProps {
  readonly tables: readonly Table[]
  /** Whether only the draft has a table, or a column of it. */
  isAdded(table: string, column?: string): boolean
}

/** Tables as boxes, with lines for their references. The boxes are a list, so that it can be read without the lines. */
export function Diagram({ tables, isAdded }: DiagramProps) {
  const { width, height, boxes, lines } = useMemo(() => layOut(tables), [tables])
  return (
    <div className="diagram-frame" tabIndex={0} role="region" aria-label={texts.label}>
      <div className="diagram" style={{ width, height }}>
        <svg width={width} height={height} aria-hidden>
          <defs>
            <marker
              id="diagram-arrow"
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerWidth="8"
              markerHeight="8"
              orient="auto"
            >
              <path d="M0,0 L8,4 L0,8" className="diagram-line" />
            </marker>
          </defs>
          {lines.map(({ name, path }) => (
            <path key={name} d={path} className="diagram-line" markerEnd="url(#diagram-arrow)" />
          ))}
        </svg>
        <ul>
          {boxes.map((box) => (
            <TableBox key={box.table.name} box={box} isAdded={isAdded} />
          ))}
        </ul>
      </div>
    </div>
  )
}

function TableBox({ box, isAdded }: { readonly box: Box } & Pick<DiagramProps, 'isAdded'>) {
  const { table, left, top, height, columns } = box
  const isNew = isAdded(table.name)
  const hidden = table.columns.length - columns.length
  return (
    <li className="diagram-box" data-added={isNew || undefined} style={{ left, top, width: boxWidth, height }}>
      <p className="diagram-title">
        <Link to="/tables/$name" params={{ name: `${table.connection}.${table.name}` }}>
          <bdi translate="no">{table.name}</bdi>
        </Link>
        {isNew ? <State tone="info">{texts.added}</State> : null}
      </p>
      <ul>
        {columns.map(({ name, type }) => {
          const reference = table.references.find((one) => one.columns.includes(name))
          return (
            <li key={name} className="diagram-column" data-added={(!isNew && isAdded(table.name, name)) || undefined}>
              <bdi translate="no" className={table.key.includes(name) ? 'strong' : ''}>
                {name}
              </bdi>
              {table.key.includes(name) ? <span className="hidden">{texts.key}</span> : null}
              {reference === undefined ? null : <span className="hidden">{texts.refersTo(reference.table)}</span>}
              {!isNew && isAdded(table.name, name) ? (
                <State tone="info">{texts.added}</State>
              ) : (
                <span className="soft" translate="no">
                  {type}
                </span>
              )}
            </li>
          )
        })}
        {hidden > 0 ? <li className="diagram-column soft">{texts.more(hidden)}</li> : null}
      </ul>
    </li>
  )
}
