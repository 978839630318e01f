import type { ReactNode } from 'react'

/**
 * Shows a description as text with the Markdown that descriptions of an API use most: paragraphs, lists, code and bold
 * text. Everything else stays as it was typed.
 */
export function Prose({ text }: { readonly text: string }) {
  if (text.trim() === '') return null
  return (
    <div className="prose" dir="auto">
      {splitBlocks(text).map((block, index) => (
        <Block key={index} text={block} />
      ))}
    </div>
  )
}

/** Splits at empty lines, but not within fenced code. */
function splitBlocks(text: string): readonly string[] {
  return text
    .replaceAll('\r\n', '\n')
    .split(/(^```[^\n]*\n[^]*?\n```$)/m)
    .flatMap((part) => (part.startsWith('```') ? [part] : part.split(/\n\s*\n/)))
    .filter((block) => block.trim() !== '')
}

function Block({ text }: { readonly text: string }) {
  if (text.startsWith('```'))
    return <pre className="code wrap">{text.replace(/^```[^\n]*\n/, '').replace(/\n```$/, '')}</pre>
  const lines = text.trim().split('\n')
  if (!lines.every((line) => /^\s*(?:[-*] |\s\s)/.test(line))) return <p>{renderInline(text.trim())}</p>
  const items = text
    .trim()
    .split(/\n?^\s*[-*] /m)
    .filter((item) => item !== '')
  return (
    <ul>
      {items.map((item, index) => (
        <li key={index}>{renderInline(item)}</li>
      ))}
    </ul>
  )
}

function renderInline(text: string): ReactNode {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((part, index) => {
    if (index % 2 === 0) return part
    return part.startsWith('`') ? (
      <code key={index}>{part.slice(1, -1)}</code>
    ) : (
      <strong key={index}>{part.slice(2, -2)}</strong>
    )
  })
}
