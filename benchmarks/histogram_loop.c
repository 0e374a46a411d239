/* Baseline: one histogram per candidate and target, row by row.
 *
 * It is optimized: the code of (candidate, given) is formed once per candidate, and rows go in turn
 * to four histograms, so that rows with equal codes do not wait for each other's increment. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 4 };

/* Sum of f over the cells that `offset + y` addresses; `cells` holds WAYS histograms. */
static int64_t table_sum(const uint32_t *offset, const uint8_t *y, int64_t rows, int64_t size, uint32_t *cells,
                         const int64_t *f) {
    memset(cells, 0, (size_t)(WAYS * size) * sizeof *cells);
    int64_t i = 0;
    for (; i + WAYS <= rows; i += WAYS)
        for (int way = 0; way < WAYS; way++)
            cells[way * size + offset[i + way] + (y ? y[i + way] : 0)]++;
    for (; i < rows; i++)
        cells[offset[i] + (y ? y[i] : 0)]++;

    int64_t sum = 0;
    for (int64_t cell = 0; cell < size; cell++) {
        uint32_t count = 0;
        for (int way = 0; way < WAYS; way++)
            count += cells[way * size + cell];
        sum += f[count];
    }
    return sum;
}

/* gains[k] = sum over targets of (f-sum of (x_k, given, y_l) - f-sum of (x_k, given)), for column-major x and y.
 * A null `given` stands for a constant. Returns 0, or 1 when memory is short. */
int histogram_gains(const uint8_t *x, int64_t candidates, int64_t rows, int64_t levels, const uint8_t *given,
                    const uint8_t *y, int64_t targets, int64_t classes, const int64_t *f, int64_t *gains) {
    int64_t size = levels * levels * classes;
    uint32_t *offset = malloc((size_t)rows * sizeof *offset);
    uint32_t *cells = malloc((size_t)(WAYS * size) * sizeof *cells);
    int failed = !offset || !cells;
    for (int64_t k = 0; k < candidates && !failed; k++) {
        const uint8_t *column = x + k * rows;
        for (int64_t i = 0; i < rows; i++)
            offset[i] = (uint32_t)((column[i] * levels + (given ? given[i] : 0)) * classes);
        int64_t sum = -targets * table_sum(offset, NULL, rows, size, cells, f);
        for (int64_t l = 0; l < targets; l++)
            sum += table_sum(offset, y + l * rows, rows, size, cells, f);
        gains[k] = sum;
    }
    free(offset);
    free(cells);
    return failed;
}
