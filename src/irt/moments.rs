//! Gaussian posteriors of many vectors at once, and their packed second moments.

use ndarray::Array2;

use super::packed;

/// Independent Gaussian posteriors N(m, S) of n vectors of k numbers.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Gaussians {
    k: usize,
    /// n x k means.
    pub(crate) mean: Vec<f64>,
    /// n covariances, packed lower triangles row by row.
    pub(crate) cov: Vec<f64>,
    /// log det S of each.
    pub(crate) log_det: Vec<f64>,
}

impl Gaussians {
    /// n vectors with mean 0 and covariance `variance` I.
    pub(crate) fn isotropic(n: usize, k: usize, variance: f64) -> Self {
        let mut cov = vec![0.0; n * packed::len(k)];
        for c in cov.chunks_exact_mut(packed::len(k)) {
            for i in 0..k {
                c[packed::at(i, i)] = variance;
            }
        }
        Self {
            k,
            mean: vec![0.0; n * k],
            cov,
            log_det: vec![k as f64 * variance.ln(); n],
        }
    }

    /// From means (n x k) and packed covariances (n x k (k + 1) / 2).
    ///
    /// # Panics
    /// When the lengths do not fit together.
    pub fn new(k: usize, mean: Vec<f64>, cov: Vec<f64>) -> Self {
        let n = mean.len() / k;
        assert!(mean.len() == n * k && cov.len() == n * packed::len(k));
        let mut out = Self {
            k,
            mean,
            cov,
            log_det: vec![0.0; n],
        };
        out.refresh_log_det();
        out
    }

    /// Points: covariance 0 everywhere.
    pub fn points(k: usize, mean: Vec<f64>) -> Self {
        let n = mean.len() / k;
        Self {
            k,
            cov: vec![0.0; n * packed::len(k)],
            log_det: vec![f64::NEG_INFINITY; n],
            mean,
        }
    }

    pub(crate) fn refresh_log_det(&mut self) {
        let k = self.k;
        for (c, log_det) in self.cov.chunks_exact(packed::len(k)).zip(&mut self.log_det) {
            *log_det = packed::cholesky(&mut c.to_vec(), k);
        }
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.log_det.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.log_det.is_empty()
    }

    /// Length of each vector.
    pub fn dims(&self) -> usize {
        self.k
    }

    /// Mean of vector i.
    pub fn mean(&self, i: usize) -> &[f64] {
        &self.mean[i * self.k..(i + 1) * self.k]
    }

    /// Covariance of vector i: a packed lower triangle, row by row.
    pub fn cov(&self, i: usize) -> &[f64] {
        let p = packed::len(self.k);
        &self.cov[i * p..(i + 1) * p]
    }

    /// The vectors `rows` in that order.
    pub fn select(&self, rows: &[usize]) -> Self {
        Self {
            k: self.k,
            mean: rows.iter().flat_map(|&i| self.mean(i)).copied().collect(),
            cov: rows.iter().flat_map(|&i| self.cov(i)).copied().collect(),
            log_det: rows.iter().map(|&i| self.log_det[i]).collect(),
        }
    }

    /// Several sets of vectors of length `k` as one.
    pub(crate) fn concat<'a>(k: usize, sets: impl Iterator<Item = &'a Self>) -> Self {
        let mut out = Self {
            k,
            mean: Vec::new(),
            cov: Vec::new(),
            log_det: Vec::new(),
        };
        for set in sets {
            out.mean.extend_from_slice(&set.mean);
            out.cov.extend_from_slice(&set.cov);
            out.log_det.extend_from_slice(&set.log_det);
        }
        out
    }

    /// n x k means as an array.
    pub(crate) fn means(&self) -> Array2<f64> {
        let mut out = Array2::zeros((self.len(), self.k));
        for (o, m) in out.iter_mut().zip(&self.mean) {
            *o = *m;
        }
        out
    }

    /// E\[v v'\] of every vector, packed: n x k (k + 1) / 2.
    pub(crate) fn second_moments(&self) -> Array2<f64> {
        let (k, p) = (self.k, packed::len(self.k));
        let mut out = Array2::zeros((self.len(), p));
        for (i, mut row) in out.outer_iter_mut().enumerate() {
            let (m, c) = (self.mean(i), self.cov(i));
            for a in 0..k {
                for b in 0..=a {
                    let q = packed::at(a, b);
                    row[q] = c[q] + m[a] * m[b];
                }
            }
        }
        out
    }
}

/// E\[x x'\] of x = (theta, -1), packed: n x (D + 1) (D + 2) / 2.
pub(crate) fn extended_moments(theta: &Gaussians) -> Array2<f64> {
    let d = theta.dims();
    let inner = theta.second_moments();
    let p = packed::len(d);
    let mut out = Array2::zeros((theta.len(), packed::len(d + 1)));
    for (l, mut row) in out.outer_iter_mut().enumerate() {
        for q in 0..p {
            row[q] = inner[(l, q)];
        }
        for (q, &m) in theta.mean(l).iter().enumerate() {
            row[p + q] = -m;
        }
        row[p + d] = 1.0;
    }
    out
}

/// E\[x x'\] of the first ability, packed, what stands off the diagonal doubled.
pub(crate) fn doubled_extended(theta: &Gaussians) -> Vec<f64> {
    let moments = doubled(extended_moments(&theta.select(&[0])), theta.dims() + 1);
    moments.row(0).to_vec()
}

/// The means of x = (theta, -1): n x (D + 1).
pub(crate) fn extended_means(theta: &Gaussians) -> Array2<f64> {
    let d = theta.dims();
    Array2::from_shape_fn((theta.len(), d + 1), |(l, j)| {
        if j < d { theta.mean(l)[j] } else { -1.0 }
    })
}

/// Doubles what stands off the diagonal, so that a dot product of packed matrices is the trace of their product.
pub(crate) fn doubled(mut moments: Array2<f64>, k: usize) -> Array2<f64> {
    for i in 0..k {
        for j in 0..i {
            moments
                .column_mut(packed::at(i, j))
                .mapv_inplace(|x| 2.0 * x);
        }
    }
    moments
}
