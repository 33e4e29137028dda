// Unpacks DEFLATE (RFC 1951) at once, which no API of browsers does. For data of this package: it is not checked.
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
// Extra bits of each length code from 257, and of each distance code.
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];

/** Returns the first value of each code. */
const firsts = (bits, first) => bits.map((count) => (first += 1 << count) - (1 << count));

/** Returns a decoding table of a canonical code: at each number of `width` bits, the symbol * 16 + its length. */
function decoder(lengths) {
  const width = Math.max(1, ...lengths);
  const table = new Uint16Array(1 << width);
  let code = 0;
  for (let length = 1; length <= width; length++, code <<= 1) {
    lengths.forEach((own, symbol) => {
      if (own !== length) return;
      let reversed = 0;
      for (let bit = 0; bit < length; bit++) reversed |= ((code >> bit) & 1) << (length - 1 - bit);
      for (let at = reversed; at < table.length; at += 1 << length) table[at] = (symbol << 4) | length;
      code++;
    });
  }
  return { table, width };
}

/** Returns the unpacked bytes. The first four bytes are their number, little-endian. */
export function inflate(bytes) {
  const out = new Uint8Array(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true));
  const lengthFirsts = firsts(LENGTH_BITS, 3);
  // The last code has a shorter range than its place in the series.
  lengthFirsts[28] = 258;
  const distanceFirsts = firsts(DISTANCE_BITS, 1);
  let [from, to, held, count] = [4, 0, 0, 0];
  const fill = (wanted) => {
    for (; count < wanted; count += 8) held |= bytes[from++] << count;
  };
  const drop = (used) => {
    held >>>= used;
    count -= used;
  };
  const bits = (wanted) => {
    fill(wanted);
    const value = held & ((1 << wanted) - 1);
    drop(wanted);
    return value;
  };
  const symbol = ({ table, width }) => {
    fill(width);
    const found = table[held & ((1 << width) - 1)];
    drop(found & 15);
    return found >> 4;
  };
  const dynamic = () => {
    const [literals, distances, codes] = [bits(5) + 257, bits(5) + 1, bits(4) + 4];
    const codeLengths = new Array(19).fill(0);
    for (const place of CODE_ORDER.slice(0, codes)) codeLengths[place] = bits(3);
    const code = decoder(codeLengths);
    const lengths = [];
    while (lengths.length < literals + distances) {
      const next = symbol(code);
      if (next < 16) lengths.push(next);
      else {
        const [value, times] = next === 16 ? [lengths.at(-1), 3 + bits(2)] : [0, next === 17 ? 3 + bits(3) : 11 + bits(7)];
        for (let time = 0; time < times; time++) lengths.push(value);
      }
    }
    return [decoder(lengths.slice(0, literals)), decoder(lengths.slice(literals))];
  };
  const fixed = () => [decoder(Array.from({ length: 288 }, (_, at) => (at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8))), decoder(new Array(30).fill(5))];
  for (let isLast = 0; !isLast; ) {
    isLast = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      drop(count % 8);
      const size = bits(16);
      bits(16);
      for (let left = size; left > 0; left--) out[to++] = bits(8);
      continue;
    }
    const [literal, distance] = kind === 1 ? fixed() : dynamic();
    for (let next; (next = symbol(literal)) !== 256; ) {
      if (next < 256) {
        out[to++] = next;
        continue;
      }
      let length = lengthFirsts[next - 257] + bits(LENGTH_BITS[next - 257]);
      const code = symbol(distance);
      const back = distanceFirsts[code] + bits(DISTANCE_BITS[code]);
      for (; length > 0; length--, to++) out[to] = out[to - back];
    }
  }
  return out;
}
