// Prints a value that is longer than its field below the field, in full. Import this module for its side effect.
const className = 'print-value'

addEventListener('beforeprint', () => {
  removeValues()
  for (const field of document.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>(
    '#content :is(input, textarea)',
  )) {
    const isCut = field.scrollWidth > field.clientWidth + 1 || field.scrollHeight > field.clientHeight + 1
    if (field.type === 'password' || field.value === '' || !isCut) continue
    const value = document.createElement('p')
    value.className = className
    value.textContent = field.value
    field.after(value)
  }
})

addEventListener('afterprint', removeValues)

function removeValues(): void {
  for (const value of document.querySelectorAll(`.${className}`)) value.remove()
}
